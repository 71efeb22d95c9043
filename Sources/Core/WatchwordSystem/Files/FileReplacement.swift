internal import Glibc

/// Replaces one file atomically: at every moment, the complete old or new file exists, even if the
/// process is killed, the disk is full or the power fails.
///
/// Its working files are the previous generation and, while a writer is active, the new file, the
/// next previous generation, and the file that was just replaced. They are next to the file
/// (`name.previous`, `name.new`, `name.previous.new`, `name.displaced`) or in a separate folder
/// (`previous`, `new`, `previous.new`, `displaced`). Writers are serialised by a ``FileLock``. A
/// file that is not provably ours is never changed.
public struct FileReplacement: Sendable {
    let name: String
    /// The beginning of every generation of this file.
    let beginning: FileBeginning
    /// Another possible beginning of a file that a killed writer left behind.
    let otherLeftover: FileBeginning?
    let previous: String
    let aside: String
    let newPreviousName: String
    /// The name under which the new file is exchanged with the old one.
    let displaced: String

    /// Replaces the file `name`, with its working files next to it.
    ///
    /// - Parameter beginning: the beginning of all its generations. It remains readable in an
    ///   erased file, so it must not be secret.
    public init(of name: String, beginningWith beginning: [UInt8]) {
        self.init(
            of: name, beginningWith: FileBeginning(beginning), orLeftover: nil,
            prefix: name + ".")
    }

    /// Replaces the file `name`, with its working files in a folder that is not shared with other
    /// files.
    ///
    /// - Parameter leftover: another possible beginning of a new file that a killed writer left
    ///   behind.
    public init(
        of name: String, beginningWith beginning: FileBeginning,
        orLeftover leftover: FileBeginning? = nil
    ) {
        self.init(of: name, beginningWith: beginning, orLeftover: leftover, prefix: "")
    }

    private init(
        of name: String, beginningWith beginning: FileBeginning,
        orLeftover leftover: FileBeginning?,
        prefix: String
    ) {
        self.name = name
        self.beginning = beginning
        otherLeftover = leftover
        previous = prefix + "previous"
        aside = prefix + "new"
        newPreviousName = prefix + "previous.new"
        displaced = prefix + "displaced"
    }

    /// What happens to the file that is replaced.
    public enum Previous: Sendable {
        /// There is no old file. If one exists, it is not replaced.
        case absent
        /// The replaced file is not kept.
        case none
        /// The replaced file is kept as the previous generation, in place of the generation before
        /// it.
        case kept
        /// The replaced file must be erased: the previous generation is overwritten now. The old
        /// file is erased later by ``eraseAllButCurrent(in:besides:noting:)`` or, if the process is
        /// killed, by the next writer.
        case purged
        /// The replaced file must be erased, and the previous generation stays as it is. The old
        /// file is erased later by ``eraseLeftovers(in:besides:noting:)`` or, if the process is
        /// killed, by the next writer.
        case discarded
    }

    /// The file that is replaced.
    public struct OldFile: Sendable {
        let previous: Previous
        let content: [UInt8]?

        /// - Parameters:
        ///   - previous: what happens to it.
        ///   - content: what it must still contain when it is replaced; `nil` for any content.
        public init(_ previous: Previous, containing content: [UInt8]? = nil) {
            self.previous = previous
            self.content = content
        }
    }

    /// Replaces the old file, if any, with a file that contains `bytes` (mode 0600).
    ///
    /// When this returns, the new file is on disk. If it throws ``FileError/notConfirmed(_:)``, the
    /// new file is in place; if it throws any other error, the old file is.
    public func replace(
        with bytes: Span<UInt8>, in folder: borrowing Folder, previous: Previous
    ) throws(FileError) {
        var linked: [LinkedFile] = []
        try put(bytes, in: folder, besides: folder, replacing: OldFile(previous), noting: &linked)
        try FileError.confirming(folder.synchronize())
    }

    /// Replaces the old file, if any, using working files in the folder `own` on the same file
    /// system.
    ///
    /// - Parameter linked: the files that were to be erased, but have a second name, are added to
    ///   this.
    /// - Throws: ``FileError/changed`` if the old file does not contain what it must.
    public func replace(
        with bytes: Span<UInt8>, in folder: borrowing Folder, besides own: borrowing Folder,
        replacing old: OldFile, noting linked: inout [LinkedFile]
    ) throws(FileError) {
        try put(bytes, in: folder, besides: own, replacing: old, noting: &linked)
        try FileError.confirming(folder.synchronize())
        try FileError.confirming(own.synchronize())
        if old.content != nil { discardNames(in: own) }
    }

    private func put(
        _ bytes: Span<UInt8>, in folder: borrowing Folder, besides own: borrowing Folder,
        replacing old: OldFile, noting linked: inout [LinkedFile]
    ) throws(FileError) {
        try removeLeftovers(in: own, besides: folder, noting: &linked)
        try expectOwnOrNothing(name, in: folder)
        do throws(FileError) {
            try FileError.system(in: write(bytes, to: aside, in: own))
            switch old.previous {
            case .absent, .none: break
            case .kept: try keepPrevious(in: own, of: folder, expecting: old.content)
            case .purged:
                try erasePrevious(in: folder, besides: own, noting: &linked)
                try linkToPreviousAside(in: own, of: folder, expecting: old.content)
            case .discarded: try linkToPreviousAside(in: own, of: folder, expecting: old.content)
            }
            if case .absent = old.previous {
                try give(name, in: folder, toNewIn: own)
            } else if let content = old.content {
                try exchange(in: folder, besides: own, expecting: content)
            } else {
                try FileError.system(in: own.rename(aside, to: name, in: folder))
            }
        } catch {
            // Report the first failure; the next writer removes any file that is left here.
            discardNew(in: own)
            throw error
        }
    }

    // Unlike renaming, linking never replaces a file that another process has just created.
    private func give(_ name: String, in folder: borrowing Folder, toNewIn own: borrowing Folder)
        throws(FileError)
    {
        do throws(SystemCallFailure) {
            try own.link(aside, to: name, in: folder)
        } catch {
            guard !error.isAlreadyExists else { throw .inTheWay(name: name) }
            guard error.isLinkUnsupported else { throw .system(error) }
            return try FileError.system(in: own.rename(aside, to: name, in: folder))
        }
        // The file is in place; the next writer removes the other name.
        _ = ifPossible(try own.remove(aside))
    }

    // The old file gets a second name before its first name passes to the new file, so that the
    // first name always exists and the previous file is always complete.
    private func keepPrevious(
        in own: borrowing Folder, of folder: borrowing Folder, expecting old: [UInt8]?
    ) throws(FileError) {
        try expectOwnOrNothing(previous, in: own)
        try linkToPreviousAside(in: own, of: folder, expecting: old)
        guard try FileError.system(in: own.holds(newPreviousName)) else { return }
        try FileError.system(in: own.rename(newPreviousName, to: previous, in: own))
        // If both names already refer to one file (a writer was killed between two renames),
        // renaming does nothing and leaves both names.
        try FileError.system(in: own.remove(newPreviousName))
    }

    private func linkToPreviousAside(
        in own: borrowing Folder, of folder: borrowing Folder, expecting old: [UInt8]?
    ) throws(FileError) {
        try FileError.system(in: linkToPreviousAside(in: own, of: folder))
        guard let old, try !FileError.system(in: holds(old, at: newPreviousName, in: own)) else {
            return
        }
        try FileError.system(in: own.remove(newPreviousName))
        throw .changed
    }

    private func linkToPreviousAside(
        in own: borrowing Folder, of folder: borrowing Folder
    ) throws(SystemCallFailure) {
        guard try folder.holds(name) else { return }
        do throws(SystemCallFailure) {
            try folder.link(name, to: newPreviousName, in: own)
        } catch  where error.isLinkUnsupported {
            try copy(in: folder, toPreviousAsideIn: own)
        }
    }

    private func copy(in folder: borrowing Folder, toPreviousAsideIn own: borrowing Folder)
        throws(SystemCallFailure)
    {
        let file = try folder.open(name, O_RDONLY)
        let size = Int(try file.facts().st_size)
        let bytes = try file.bytes(atMost: size)
        try write(bytes.span, to: newPreviousName, in: own)
    }

    func write(_ bytes: Span<UInt8>, to name: String, in folder: borrowing Folder)
        throws(SystemCallFailure)
    {
        let file = try folder.make(name)
        try file.writeAll(bytes)
        try file.synchronize()
    }
}

// Replacing a file only if it has not changed since it was read, because other programs may ignore
// the lock.
extension FileReplacement {
    /// Gives the new file the name of the old one, which must still hold `old`.
    ///
    /// The two files are exchanged in one step, and then the old one is compared with `old`. If
    /// another program replaced it before that step, its file is put back.
    ///
    /// Where the file system cannot exchange files, the old file is compared just before it is
    /// replaced.
    ///
    /// - Throws: ``FileError/changed`` if the file holds anything else; the file is then
    ///   kept.
    func exchange(
        in folder: borrowing Folder, besides own: borrowing Folder, expecting old: [UInt8]
    ) throws(FileError) {
        do throws(SystemCallFailure) {
            // The new file keeps its other name, so that a later writer recognises it.
            try own.link(aside, to: displaced, in: own)
            try own.exchange(displaced, with: name, in: folder)
        } catch {
            guard !error.isMissingFile else { throw .changed }
            guard error.isLinkUnsupported || error.isExchangeUnsupported else {
                throw .system(error)
            }
            guard try FileError.system(in: holds(old, at: name, in: folder)) else {
                throw .changed
            }
            try FileError.system(in: own.remove(displaced))
            return try FileError.system(in: own.rename(aside, to: name, in: folder))
        }
        let failure: FileError
        do throws(SystemCallFailure) {
            guard try !holds(old, at: displaced, in: own) else { return }
            failure = .changed
        } catch {
            // A file that cannot be read is also put back.
            failure = .system(error)
        }
        try FileError.system(in: own.exchange(displaced, with: name, in: folder))
        throw failure
    }

    /// Completes or undoes an exchange that a killed writer began.
    ///
    /// A displaced file that is neither the new file nor a kept file belongs to another program. It
    /// is put back if the new file still has the name of the replaced file.
    ///
    /// - Throws: ``FileError/inTheWay(name:)`` if a third file has that name.
    func endExchange(in own: borrowing Folder, besides folder: borrowing Folder)
        throws(FileError)
    {
        guard try FileError.system(in: own.holds(displaced)) else { return }
        var isKnown = false
        for known in [aside, previous, newPreviousName] where !isKnown {
            isKnown = try FileError.system(in: isSameFile(known, in: own, displaced, in: own))
        }
        if !isKnown {
            guard try FileError.system(in: isSameFile(aside, in: own, name, in: folder)) else {
                throw .inTheWay(name: displaced)
            }
            try FileError.system(in: own.exchange(displaced, with: name, in: folder))
            guard try FileError.system(in: isSameFile(aside, in: own, displaced, in: own)) else {
                throw .inTheWay(name: displaced)
            }
        }
        try FileError.system(in: own.remove(displaced))
    }

    /// Removes the new file, which was not put in place; the next writer removes what is left.
    func discardNew(in own: borrowing Folder) {
        do throws(SystemCallFailure) {
            // If a displaced file could not be put back, leave both files: the next writer needs
            // the new file to recognise the displaced one.
            if try own.holds(displaced) {
                guard try isSameFile(aside, in: own, displaced, in: own) else { return }
            }
            discardNames(in: own)
        } catch _ {}
    }

    /// Removes the names that an exchange needed; the next writer removes what is left.
    func discardNames(in own: borrowing Folder) {
        do throws(SystemCallFailure) {
            // In this order: without the new file, a displaced file could not be recognised.
            try own.remove(displaced)
            try own.remove(aside)
        } catch _ {}
    }

    /// Whether the regular file `name` holds these bytes and no more.
    func holds(_ bytes: [UInt8], at name: String, in folder: borrowing Folder)
        throws(SystemCallFailure) -> Bool
    {
        do throws(SystemCallFailure) {
            guard let facts = try folder.facts(of: name), FileKind(facts) == .file,
                Int(facts.st_size) == bytes.count
            else { return false }
            return try folder.open(name, O_RDONLY).bytes(atMost: bytes.count + 1) == bytes
        } catch  where error.isMissingFile || error.isNotRegularFile || error.isPermissionDenied {
            return false
        }
    }

    /// Whether both names exist and refer to the same file.
    func isSameFile(
        _ name: String, in folder: borrowing Folder, _ second: String, in other: borrowing Folder
    ) throws(SystemCallFailure) -> Bool {
        guard let first = try folder.facts(of: name), let second = try other.facts(of: second)
        else { return false }
        return first.isSameFile(as: second)
    }
}
