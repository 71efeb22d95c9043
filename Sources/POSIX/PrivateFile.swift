internal import Glibc

/// Why a file that must be its owner's alone is not read.
public enum PrivateFileError: Error, Hashable, Sendable {
    /// There is nothing of that name.
    case missing
    /// It is a folder.
    case folder
    /// It is a symbolic link; links are not followed.
    case symbolicLink
    /// It is a device, a pipe or a socket.
    case notAFile
    /// It belongs to the user with this number, not to the one who asks.
    case otherOwner(UInt32)
    /// Others than its owner may read or write it; these are its permission bits.
    case openToOthers(mode: UInt32)
    /// It holds more than this many bytes.
    case tooLarge(limit: Int)
    /// The system refused.
    case system(SystemCallFailure)

    init(opening failure: SystemCallFailure) {
        self =
            switch failure.number {
            case ENOENT: .missing
            case ELOOP: .symbolicLink
            case EISDIR: .folder
            case ENXIO: .notAFile
            default: .system(failure)
            }
    }
}

extension Folder {
    /// Reads the file `name` whole, when it is a regular file that belongs to this process's user
    /// and is open to nobody else.
    ///
    /// What is checked is what is read: the checks are made on the open file.
    public func readPrivateFile(_ name: String, limit: Int) throws(PrivateFileError) -> [UInt8] {
        try holdPrivateFile(name, limit: limit).bytes
    }

    /// Reads the file `name` as ``readPrivateFile(_:limit:)`` does, and keeps hold of it.
    public func holdPrivateFile(_ name: String, limit: Int) throws(PrivateFileError) -> HeldFile {
        let file = try openPrivateFile(name)
        let facts = try Folder.privateFacts(of: file)
        let size = Int(facts.st_size)
        guard size <= limit else { throw .tooLarge(limit: limit) }
        do {
            // One byte more than there should be shows a file that is being written to.
            let bytes = try [UInt8](capacity: size + 1) { output throws(SystemCallFailure) in
                try file.readToEnd(into: &output)
            }
            return HeldFile(bytes: bytes, stamp: FileStamp(facts), file: file)
        } catch {
            throw .system(error)
        }
    }

    /// Overwrites part of the file `name` in place, which takes no room on the disk, and waits until that
    /// is on it.
    ///
    /// - Throws: ``FileReplacementError/inTheWay(name:)`` for a file that is not this user's alone, or has
    ///   a second name.
    public func overwrite(_ name: String, at offset: Int, with bytes: Span<UInt8>)
        throws(FileReplacementError)
    {
        let isOverwritten = try system { () throws(SystemCallFailure) in
            let file = try open(name, O_WRONLY)
            let facts = try file.facts()
            guard FileKind.isPrivateFile(facts), facts.st_nlink == 1 else { return false }
            try file.writeAll(bytes, at: offset)
            guard retrying({ fdatasync(file.number) }) == 0 else {
                throw SystemCallFailure(call: "fdatasync", number: errno)
            }
            return true
        }
        guard isOverwritten else { throw .inTheWay(name: name) }
    }

    private func openPrivateFile(_ name: String) throws(PrivateFileError) -> FileDescriptor {
        do { return try open(name, O_RDONLY) } catch { throw PrivateFileError(opening: error) }
    }

    private static func privateFacts(of file: borrowing FileDescriptor) throws(PrivateFileError)
        -> stat
    {
        let facts: stat
        do { facts = try file.facts() } catch { throw .system(error) }
        guard facts.st_mode & S_IFMT != S_IFDIR else { throw .folder }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        guard facts.st_uid == geteuid() else { throw .otherOwner(facts.st_uid) }
        let mode = facts.st_mode & 0o7777
        guard mode & 0o077 == 0 else { throw .openToOthers(mode: mode) }
        return facts
    }
}

/// A file that was read whole and is held open, so that no other file can get its number meanwhile.
public struct HeldFile: ~Copyable {
    /// What it held.
    public let bytes: [UInt8]
    private let stamp: FileStamp
    private let file: FileDescriptor

    init(bytes: [UInt8], stamp: FileStamp, file: consuming FileDescriptor) {
        self.bytes = bytes
        self.stamp = stamp
        self.file = file
    }

    /// Whether the name `name` in `folder` is still this file's, and nobody has changed it since it was read.
    public func isStill(_ name: String, in folder: borrowing Folder) throws(SystemCallFailure)
        -> Bool
    {
        try folder.facts(of: name).map { FileStamp($0) } == stamp
    }
}

extension [UInt8] {
    /// Makes room for `capacity` bytes and lets `fill` write them in place.
    init<Failure: Error>(
        capacity: Int, fill: (inout OutputSpan<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var thrown: Failure?
        unsafe self.init(unsafeUninitializedCapacity: capacity) { buffer, count in
            var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
            do throws(Failure) { try fill(&output) } catch { thrown = error }
            count = unsafe output.finalize(for: buffer)
        }
        if let thrown { throw thrown }
    }
}
