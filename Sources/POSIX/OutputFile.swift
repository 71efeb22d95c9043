internal import Glibc

/// Why a file was not written.
public enum OutputFileError: Error, Hashable, Sendable {
    /// There is something of that name already.
    case exists
    /// The path names a folder.
    case folder
    /// The path names a symbolic link; neither the link nor what it points at is replaced.
    case symbolicLink
    /// The path names a device, a pipe or a socket; none of them is ever replaced.
    case notAFile
    /// The file begins as one does that is never to be replaced.
    case protected
    /// The folder that it should be in is not there.
    case noFolder
    /// The system refused.
    case system(SystemCallFailure)

    init(_ failure: SystemCallFailure) {
        self =
            switch failure.number {
            case EEXIST: .exists
            case EISDIR: .folder
            case ENOENT, ENOTDIR: .noFolder
            default: .system(failure)
            }
    }
}

/// Writes files that only their owner can read.
public enum OutputFile {
    /// Makes the file at `path` (mode 0600) and fills it with `bytes`; a failure leaves nothing behind.
    ///
    /// - Parameter replacing: whether it takes the place of a file that is there; else that is
    ///   ``OutputFileError/exists``.
    /// - Parameter protected: what a file begins with that is not replaced in any case; empty when there is
    ///   no such file.
    public static func write(
        _ bytes: Span<UInt8>, to path: String, replacing: Bool, sparing protected: [UInt8] = []
    ) throws(OutputFileError) {
        let (folderPath, name) = split(path)
        guard !name.isEmpty, name != ".", name != ".." else { throw .folder }
        let folder: Folder
        do { folder = try Folder(opening: folderPath) } catch { throw OutputFileError(error) }
        if try isTaken(name, in: folder) {
            guard replacing else { throw .exists }
            guard try !begins(name, with: protected, in: folder) else { throw .protected }
            try replace(name, with: bytes, in: folder)
        } else {
            try make(name, holding: bytes, in: folder)
        }
    }

    /// Whether there is a file that could be replaced; anything else of that name is refused.
    private static func isTaken(_ name: String, in folder: borrowing Folder)
        throws(OutputFileError) -> Bool
    {
        let facts: stat?
        do { facts = try folder.facts(of: name) } catch { throw OutputFileError(error) }
        guard let facts else { return false }
        switch FileKind(facts) {
        case .file: return true
        case .folder: throw .folder
        case .symbolicLink: throw .symbolicLink
        case .other: throw .notAFile
        }
    }

    private static func begins(
        _ name: String, with prefix: [UInt8], in folder: borrowing Folder
    ) throws(OutputFileError) -> Bool {
        guard !prefix.isEmpty else { return false }
        do throws(SystemCallFailure) {
            let file = try folder.open(name, O_RDONLY)
            var start: [UInt8] = []
            _ = try FileDescriptor.read(
                exactly: prefix.count, from: file.number, appendingTo: &start)
            return start == prefix
        } catch {
            throw OutputFileError(error)
        }
    }

    // The old file is there, whole, until the new one is. What is beside it is somebody else's, so
    // the new one starts under a name that nothing has.
    private static func replace(
        _ name: String, with bytes: Span<UInt8>, in folder: borrowing Folder
    ) throws(OutputFileError) {
        let aside = try freshName()
        try make(aside, holding: bytes, in: folder)
        do throws(SystemCallFailure) {
            try folder.rename(aside, to: name)
            try folder.synchronize()
        } catch {
            // The first failure is the one to tell of.
            do { try folder.remove(aside) } catch _ {}
            throw OutputFileError(error)
        }
    }

    private static func make(
        _ name: String, holding bytes: Span<UInt8>, in folder: borrowing Folder
    ) throws(OutputFileError) {
        do throws(SystemCallFailure) {
            let file = try folder.make(name)
            do throws(SystemCallFailure) {
                try file.writeAll(bytes)
                try file.synchronize()
            } catch {
                // The first failure is the one to tell of.
                do { try folder.remove(name) } catch _ {}
                throw error
            }
        } catch {
            throw OutputFileError(error)
        }
    }

    /// A name that nobody can have guessed; should it be taken all the same, making the file fails.
    private static func freshName() throws(OutputFileError) -> String {
        var chance: UInt64 = 0
        guard unsafe getentropy(&chance, MemoryLayout<UInt64>.size) == 0 else {
            throw .system(SystemCallFailure(call: "getentropy", number: errno))
        }
        return ".watchword-\(String(chance, radix: 16)).new"
    }

    /// The folder that `path` is in, and its name there.
    public static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = path[..<slash]
        return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
    }
}
