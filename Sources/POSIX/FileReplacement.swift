internal import Glibc

/// Why a file was not replaced.
public enum FileReplacementError: Error, Hashable, Sendable {
    /// Something that is not this file's own has a name that is needed; it was left as it is.
    case inTheWay(name: String)
    /// The system refused; the old file is there as it was.
    case system(SystemCallFailure)
    /// The new file is there, but the system did not say that its name is on the disk.
    case notConfirmed(SystemCallFailure)
}

/// Replaces one file: at every instant the old or the new one is there, whole, also when the process
/// is killed, the disk is full or the power fails.
///
/// Its working files are the previous generation and, while a writer is at work, the new one and the
/// one that is about to be the previous one. They stand beside the file (`name.previous`, `name.new`,
/// `name.previous.new`) or in a folder of their own (`previous`, `new`, `previous.new`). Writers take
/// turns: they hold a ``FileLock``. A file that is not provably ours is never touched.
public struct FileReplacement: Sendable {
    let name: String
    /// What each generation of this file begins with.
    let beginning: FileBeginning
    /// What else a killed writer may have left.
    let otherLeftover: FileBeginning?
    let previous: String
    let aside: String
    let previousAside: String

    /// Replaces the file `name`; its working files stand beside it.
    ///
    /// - Parameter beginning: what each of its generations begins with. It is readable even in an erased
    ///   file, so it must be no secret.
    public init(of name: String, beginningWith beginning: [UInt8]) {
        self.init(
            of: name, beginningWith: FileBeginning(beginning), orLeftover: nil,
            prefix: name + ".")
    }

    /// Replaces the file `name`; its working files stand in a folder that holds no other file's.
    ///
    /// - Parameter leftover: what a new file that a killed writer left may also begin with.
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
        previousAside = prefix + "previous.new"
    }

    /// What becomes of the file that the new one replaces.
    public enum Previous: Sendable {
        /// There is none: where a file has the name, nothing is replaced.
        case absent
        /// It is not kept.
        case none
        /// It is kept, in the place of the one before it.
        case kept
        /// It is to go: what the one before it held is overwritten, and it is left to
        /// ``eraseAllButCurrent(in:besides:)``, or to the next writer should this one be killed before that.
        case purged
    }

    /// Puts a file that holds `bytes` (mode 0600) in the place of the old one, if there is one.
    ///
    /// When this returns, it is on the disk. When it throws ``FileReplacementError/notConfirmed(_:)``, the
    /// new file is there; when it throws anything else, the old one.
    public func replace(
        with bytes: Span<UInt8>, in folder: borrowing Folder, previous: Previous
    ) throws(FileReplacementError) {
        try put(bytes, in: folder, besides: folder, previous: previous)
        do { try folder.synchronize() } catch { throw .notConfirmed(error) }
    }

    /// The same with the working files in the folder `own`, on the same file system.
    public func replace(
        with bytes: Span<UInt8>, in folder: borrowing Folder, besides own: borrowing Folder,
        previous: Previous
    ) throws(FileReplacementError) {
        try put(bytes, in: folder, besides: own, previous: previous)
        do throws(SystemCallFailure) {
            try folder.synchronize()
            try own.synchronize()
        } catch {
            throw .notConfirmed(error)
        }
    }

    private func put(
        _ bytes: Span<UInt8>, in folder: borrowing Folder, besides own: borrowing Folder,
        previous: Previous
    ) throws(FileReplacementError) {
        try removeLeftovers(in: own, besides: folder)
        try expectOwnOrNothing(name, in: folder)
        do throws(FileReplacementError) {
            try write(bytes, to: aside, in: own)
            switch previous {
            case .absent, .none: break
            case .kept: try keepPrevious(in: own, of: folder)
            case .purged:
                try erasePrevious(in: own)
                try linkToPreviousAside(in: own, of: folder)
            }
            if case .absent = previous {
                try give(name, in: folder, toNewIn: own)
            } else {
                try system { () throws(SystemCallFailure) in
                    try own.rename(aside, to: name, in: folder)
                }
            }
        } catch {
            // The first failure is the one to report; what stays here is removed next time.
            do { try own.remove(aside) } catch _ {}
            throw error
        }
    }

    /// Overwrites what the previous file held and removes it.
    ///
    /// A disk that writes elsewhere (flash, copy-on-write) may keep the old blocks all the same; and
    /// so does a file system without hard links, where the previous file is a copy.
    ///
    /// - Parameter own: the folder of the working files.
    public func erasePrevious(in own: borrowing Folder) throws(FileReplacementError) {
        try expectOwnOrNothing(previous, in: own)
        try system { () throws(SystemCallFailure) in
            guard try own.holds(previous) else { return }
            // Under this name a half-overwritten file is removed by the next writer, and nobody takes
            // it for the previous one.
            try own.rename(previous, to: previousAside, in: own)
            try erase(previousAside, in: own)
            try own.synchronize()
        }
    }

    /// Overwrites and removes all that is not the file itself: the previous one, and what killed
    /// writers left of either.
    public func eraseAllButCurrent(in folder: borrowing Folder, besides own: borrowing Folder)
        throws(FileReplacementError)
    {
        try removeLeftovers(in: own, besides: folder)
        try erasePrevious(in: own)
    }

    /// The same for a file with its working files beside it.
    public func eraseAllButCurrent(in folder: borrowing Folder) throws(FileReplacementError) {
        try eraseAllButCurrent(in: folder, besides: folder)
    }

    /// Removes the file, for good when this returns; nothing is kept of it.
    ///
    /// - Throws: ``FileReplacementError/notConfirmed(_:)`` when it is gone, but perhaps not for good.
    public func remove(in folder: borrowing Folder) throws(FileReplacementError) {
        try expectOwnOrNothing(name, in: folder)
        try system { () throws(SystemCallFailure) in try folder.remove(name) }
        do { try folder.synchronize() } catch { throw .notConfirmed(error) }
    }

    // Linking, unlike renaming, never takes the name away from a file that somebody made meanwhile.
    private func give(_ name: String, in folder: borrowing Folder, toNewIn own: borrowing Folder)
        throws(FileReplacementError)
    {
        do throws(SystemCallFailure) {
            try own.link(aside, to: name, in: folder)
        } catch {
            guard !error.meansExists else { throw .inTheWay(name: name) }
            guard error.meansNoLinks else { throw .system(error) }
            return try system { () throws(SystemCallFailure) in
                try own.rename(aside, to: name, in: folder)
            }
        }
        try system { () throws(SystemCallFailure) in try own.remove(aside) }
    }

    // The old file gets a second name before the new file takes its first one away, so there is no
    // instant without a file of that name, and none with half a previous one.
    private func keepPrevious(in own: borrowing Folder, of folder: borrowing Folder)
        throws(FileReplacementError)
    {
        try expectOwnOrNothing(previous, in: own)
        try linkToPreviousAside(in: own, of: folder)
        try system { () throws(SystemCallFailure) in
            guard try own.holds(previousAside) else { return }
            try own.rename(previousAside, to: previous, in: own)
            // When both are one file already (a writer was killed between two renames), renaming does
            // nothing and leaves both names.
            try own.remove(previousAside)
        }
    }

    private func linkToPreviousAside(in own: borrowing Folder, of folder: borrowing Folder)
        throws(FileReplacementError)
    {
        try system { () throws(SystemCallFailure) in
            guard try folder.holds(name) else { return }
            do throws(SystemCallFailure) {
                try folder.link(name, to: previousAside, in: own)
            } catch  where error.meansNoLinks {
                try copy(in: folder, toPreviousAsideIn: own)
            }
        }
    }

    private func copy(in folder: borrowing Folder, toPreviousAsideIn own: borrowing Folder)
        throws(SystemCallFailure)
    {
        let file = try folder.open(name, O_RDONLY)
        let size = Int(try file.facts().st_size)
        let bytes = try [UInt8](capacity: size) { output throws(SystemCallFailure) in
            try file.readToEnd(into: &output)
        }
        let copy = try own.make(previousAside)
        try copy.writeAll(bytes.span)
        try copy.synchronize()
    }

    private func write(_ bytes: Span<UInt8>, to name: String, in folder: borrowing Folder)
        throws(FileReplacementError)
    {
        do throws(SystemCallFailure) {
            let file = try folder.make(name)
            try file.writeAll(bytes)
            try file.synchronize()
        } catch {
            throw .system(error)
        }
    }
}

extension SystemCallFailure {
    /// Whether something has the name already.
    fileprivate var meansExists: Bool { number == EEXIST }

    // File systems without hard links answer one of these.
    fileprivate var meansNoLinks: Bool { [EPERM, ENOSYS, EOPNOTSUPP, EMLINK].contains(number) }
}

/// Makes what a system call throws this operation's error.
func system<Result>(_ body: () throws(SystemCallFailure) -> Result)
    throws(FileReplacementError) -> Result
{
    do { return try body() } catch { throw .system(error) }
}
