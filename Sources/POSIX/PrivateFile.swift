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
        let file = try openPrivateFile(name)
        let size = try Folder.privateSize(of: file)
        guard size <= limit else { throw .tooLarge(limit: limit) }
        do {
            // One byte more than there should be shows a file that is being written to.
            return try [UInt8](capacity: size + 1) { output throws(SystemCallFailure) in
                try file.readToEnd(into: &output)
            }
        } catch {
            throw .system(error)
        }
    }

    private func openPrivateFile(_ name: String) throws(PrivateFileError) -> FileDescriptor {
        do { return try open(name, O_RDONLY) } catch { throw PrivateFileError(opening: error) }
    }

    private static func privateSize(of file: borrowing FileDescriptor) throws(PrivateFileError)
        -> Int
    {
        let facts: stat
        do { facts = try file.facts() } catch { throw .system(error) }
        guard facts.st_mode & S_IFMT != S_IFDIR else { throw .folder }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        guard facts.st_uid == geteuid() else { throw .otherOwner(facts.st_uid) }
        let mode = facts.st_mode & 0o7777
        guard mode & 0o077 == 0 else { throw .openToOthers(mode: mode) }
        return Int(facts.st_size)
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
