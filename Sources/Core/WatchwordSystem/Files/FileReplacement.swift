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
        /// It is not kept.
        case none
        /// It is kept as the previous generation, in place of the generation before it.
        case kept
        /// It must be erased: the previous generation is overwritten now. The old file is erased
        /// later by ``eraseAllButCurrent(in:besides:noting:)`` or, if the process is killed, by the next
        /// writer.
        case purged
        /// It must be erased, and the previous generation stays as it is. The old file is erased
        /// later by ``eraseLeftovers(in:besides:noting:)`` or, if the process is killed, by the next writer.
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
    /// When this returns, the new file is on disk. If it throws
    /// ``FileError/notConfirmed(_:)``, the new file is in place; if it throws any other
    /// error, the old one is.
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
        do { try own.remove(aside) } catch _ {}
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
        guard let old, try !holds(old, at: newPreviousName, in: own) else { return }
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
