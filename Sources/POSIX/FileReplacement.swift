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

/// How the one file of a folder that matters is replaced: at every instant the old or the new one is
/// there, whole, also when the process is killed, the disk is full or the power goes.
///
/// Beside the file `name` live `name.previous` (what it replaced) and, while a writer is at work,
/// `name.new` and `name.previous.new`. Writers take turns: they hold a ``FileLock``. What has one of
/// these names and is provably none of ours is never touched.
public struct FileReplacement: Sendable {
    let name: String
    /// What every file that is written here begins with, and nobody else's does.
    let beginning: [UInt8]
    var previous: String { name + ".previous" }
    var aside: String { name + ".new" }
    var previousAside: String { name + ".previous.new" }

    /// Speaks of the file `name`.
    ///
    /// - Parameter beginning: what each of its generations begins with; a leftover is known by it, so it
    ///   stays readable to the last, and must be no secret.
    public init(of name: String, beginningWith beginning: [UInt8]) {
        self.name = name
        self.beginning = beginning
    }

    /// What becomes of the files that a new one replaces.
    public enum Previous: Sendable {
        /// None is kept.
        case none
        /// The one that is replaced now is kept, in the place of the one before it.
        case kept
        /// It is to go: what the one before it held is overwritten, and it is left to
        /// ``eraseAllButCurrent(in:)``, or to the next writer should this one be killed before that.
        case purged
    }

    /// Puts a file that holds `bytes` (mode 0600) in the place of the old one, if there is one.
    ///
    /// When this returns, it is on the disk. When it throws ``FileReplacementError/notConfirmed(_:)``, the
    /// new file is there; when it throws anything else, the old one.
    public func replace(
        with bytes: Span<UInt8>, in folder: borrowing Folder, previous: Previous
    ) throws(FileReplacementError) {
        try removeLeftovers(in: folder)
        try expectOwnOrNothing(name, in: folder)
        do throws(FileReplacementError) {
            try write(bytes, to: aside, in: folder)
            switch previous {
            case .none: break
            case .kept: try keepPrevious(in: folder)
            case .purged:
                try erasePrevious(in: folder)
                try linkToPreviousAside(in: folder)
            }
            try system { () throws(SystemCallFailure) in try folder.rename(aside, to: name) }
        } catch {
            // The first failure is the one to tell of; what stays here is taken away next time.
            do { try folder.remove(aside) } catch _ {}
            throw error
        }
        do { try folder.synchronize() } catch { throw .notConfirmed(error) }
    }

    /// Overwrites what the previous file held and takes it away.
    ///
    /// A disk that writes elsewhere (flash, copy-on-write) may keep the old blocks all the same; and
    /// so does a file system without hard links, where the previous file is a copy.
    public func erasePrevious(in folder: borrowing Folder) throws(FileReplacementError) {
        try expectOwnOrNothing(previous, in: folder)
        try system { () throws(SystemCallFailure) in
            guard try folder.holds(previous) else { return }
            // Under this name a half overwritten file is taken away by the next writer, and by nobody
            // taken for the previous one.
            try folder.rename(previous, to: previousAside)
            try erase(previousAside, in: folder)
            try folder.synchronize()
        }
    }

    /// Overwrites and takes away all that is not the file itself: the previous one, and what killed
    /// writers left of either.
    public func eraseAllButCurrent(in folder: borrowing Folder) throws(FileReplacementError) {
        try removeLeftovers(in: folder)
        try erasePrevious(in: folder)
    }

    /// Takes the file away, for good when this returns; nothing is kept of it.
    ///
    /// - Throws: ``FileReplacementError/notConfirmed(_:)`` when it is gone, but perhaps not for good.
    public func remove(in folder: borrowing Folder) throws(FileReplacementError) {
        try expectOwnOrNothing(name, in: folder)
        try system { () throws(SystemCallFailure) in try folder.remove(name) }
        do { try folder.synchronize() } catch { throw .notConfirmed(error) }
    }

    // The old file gets a second name before the new file takes its first one away, so there is no
    // instant without a file of that name, and none with half a previous one.
    private func keepPrevious(in folder: borrowing Folder) throws(FileReplacementError) {
        try expectOwnOrNothing(previous, in: folder)
        try linkToPreviousAside(in: folder)
        try system { () throws(SystemCallFailure) in
            guard try folder.holds(previousAside) else { return }
            try folder.rename(previousAside, to: previous)
            // When both are one file already (a writer was killed between two renames), renaming does
            // nothing and leaves both names.
            try folder.remove(previousAside)
        }
    }

    private func linkToPreviousAside(in folder: borrowing Folder) throws(FileReplacementError) {
        try system { () throws(SystemCallFailure) in
            guard try folder.holds(name) else { return }
            do throws(SystemCallFailure) {
                try folder.link(name, to: previousAside)
            } catch  where FileReplacement.meansNoLinks(error.number) {
                try copyToPreviousAside(in: folder)
            }
        }
    }

    private func copyToPreviousAside(in folder: borrowing Folder) throws(SystemCallFailure) {
        let file = try folder.open(name, O_RDONLY)
        let size = Int(try file.facts().st_size)
        let bytes = try [UInt8](capacity: size) { output throws(SystemCallFailure) in
            try file.readToEnd(into: &output)
        }
        let copy = try folder.make(previousAside)
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

    // Filesystems without hard links answer one of these.
    private static func meansNoLinks(_ number: Int32) -> Bool {
        [EPERM, ENOSYS, EOPNOTSUPP, EMLINK].contains(number)
    }
}

/// Makes what a system call throws this operation's error.
func system<Result>(_ body: () throws(SystemCallFailure) -> Result)
    throws(FileReplacementError) -> Result
{
    do { return try body() } catch { throw .system(error) }
}
