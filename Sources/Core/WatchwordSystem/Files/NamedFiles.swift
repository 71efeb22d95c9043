internal import Glibc

/// A file that the user named, open for reading; never a device, a socket or a folder.
public struct InputFile: ~Copyable {
    /// The file, open for reading.
    public let descriptor: FileDescriptor
    /// The size in bytes; `nil` for a pipe, whose size is unknown.
    public let size: Int?

    /// Opens the file at `path` without ever blocking.
    ///
    /// - Parameter acceptingPipes: whether a pipe is accepted, such as a shell's `<(command)`.
    public init(_ path: String, acceptingPipes: Bool) throws(FileError) {
        let opened = try FileError.reading(FileDescriptor(reading: path))
        size = try InputFile.size(of: opened, acceptingPipes: acceptingPipes)
        descriptor = opened
    }

    private static func size(of file: borrowing FileDescriptor, acceptingPipes: Bool)
        throws(FileError) -> Int?
    {
        let facts = try FileError.reading(file.facts())
        switch facts.st_mode & S_IFMT {
        case S_IFREG: return Int(facts.st_size)
        case S_IFDIR: throw .folder
        case S_IFIFO:
            guard acceptingPipes else { throw .pipe }
            // Opening must not wait for a writer, but reading should wait for data, so clear
            // `O_NONBLOCK`.
            try FileError.system(in: call("fcntl") { fcntl(file.number, F_SETFL, O_RDONLY) })
            return nil
        default: throw .notAFile
        }
    }
}

/// Writes files that only their owner can read.
public enum OutputFile {
    /// Creates the file at `path` (mode 0600) with the content `bytes`.
    ///
    /// A failure leaves nothing behind. Interrupting signals take effect once the file is complete,
    /// so they leave no part of it, and no second copy, behind.
    ///
    /// - Parameter replacing: whether an existing file is replaced; otherwise it causes
    ///   ``FileError/exists``.
    /// - Parameter protected: the beginning of files that are never replaced; empty if there are
    ///   none.
    public static func write(
        _ bytes: Span<UInt8>, to path: String, replacing: Bool, sparing protected: [UInt8] = []
    ) throws(FileError) {
        let (folderPath, name) = split(path)
        guard !name.isEmpty, name != ".", name != ".." else { throw .namesFolder }
        try SignalQueue.holdingBack(SignalQueue.interruptions) { () throws(FileError) in
            try write(bytes, as: name, in: folderPath, replacing: replacing, sparing: protected)
        } otherwise: {
            .system($0)
        }
    }

    private static func write(
        _ bytes: Span<UInt8>, as name: String, in folderPath: String, replacing: Bool,
        sparing protected: [UInt8]
    ) throws(FileError) {
        let folder = try FileError.writing(Folder(opening: folderPath))
        if try isTaken(name, in: folder) {
            guard replacing else { throw .exists }
            guard try !begins(name, with: protected, in: folder) else { throw .protected }
            try replace(name, with: bytes, in: folder)
        } else {
            try FileError.writing(make(name, holding: bytes, in: folder, isLasting: true))
        }
    }

    /// Whether there is anything at `path`.
    public static func isTaken(_ path: String) throws(FileError) -> Bool {
        let (folderPath, name) = split(path)
        let folder = try FileError.writing(Folder(opening: folderPath))
        return try FileError.writing(folder.holds(name))
    }

    /// Removes a file that ``write(_:to:replacing:sparing:)`` created.
    public static func remove(_ path: String) throws(FileError) {
        let (folderPath, name) = split(path)
        let folder = try FileError.writing(Folder(opening: folderPath))
        try FileError.writing(folder.remove(name))
    }

    /// Whether a file exists that may be replaced.
    ///
    /// Anything else with this name is refused.
    private static func isTaken(_ name: String, in folder: borrowing Folder)
        throws(FileError) -> Bool
    {
        guard let facts = try FileError.writing(folder.facts(of: name)) else { return false }
        switch FileKind(facts) {
        case .file: return true
        case .folder: throw .namesFolder
        case .symbolicLink: throw .symbolicLink
        case .pipe, .other: throw .notReplaceable
        }
    }

    private static func begins(
        _ name: String, with prefix: [UInt8], in folder: borrowing Folder
    ) throws(FileError) -> Bool {
        guard !prefix.isEmpty else { return false }
        return try FileError.writing(folder.open(name, O_RDONLY).bytes(atMost: prefix.count))
            == prefix
    }

    // The old file is not touched until the new one is complete. Files next to it may belong to
    // somebody else, so the new one is created under an unused name.
    private static func replace(
        _ name: String, with bytes: Span<UInt8>, in folder: borrowing Folder
    ) throws(FileError) {
        let aside = try FileError.system(in: freshName())
        try FileError.writing(make(aside, holding: bytes, in: folder))
        do throws(SystemCallFailure) {
            try folder.rename(aside, to: name)
            try folder.synchronize()
        } catch {
            // Report the first failure.
            _ = ifPossible(try folder.remove(aside))
            throw FileError(writing: error)
        }
    }

    /// - Parameter isLasting: whether the file keeps this name, which must then be on disk, too.
    private static func make(
        _ name: String, holding bytes: Span<UInt8>, in folder: borrowing Folder,
        isLasting: Bool = false
    ) throws(SystemCallFailure) {
        let file = try folder.make(name)
        do throws(SystemCallFailure) {
            try file.writeAll(bytes)
            try file.synchronize()
            if isLasting { try folder.synchronize() }
        } catch {
            // Report the first failure.
            _ = ifPossible(try folder.remove(name))
            throw error
        }
    }

    /// An unpredictable name; if it happens to be in use, creating the file fails.
    private static func freshName() throws(SystemCallFailure) -> String {
        var chance: UInt64 = 0
        try call("getentropy") { unsafe getentropy(&chance, MemoryLayout<UInt64>.size) }
        return ".watchword-\(String(chance, radix: 16)).new"
    }

    /// The folder that contains `path`, and the name in it.
    public static func split(_ path: String) -> (folder: String, name: String) {
        let start = Folder.nameStart(in: path)
        guard start > path.startIndex else { return (".", path) }
        let folder = path[..<path.utf8.index(before: start)]
        return (folder.isEmpty ? "/" : String(folder), String(path[start...]))
    }
}
