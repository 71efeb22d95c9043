import TestSupport

/// A disk of a test's own that is soon full.
final class SmallDisk {
    private let folder: TemporaryFolder

    /// Whether one can be mounted here.
    static let canMount: Bool = {
        do {
            _ = try SmallDisk(bytes: 1 << 16)
            return true
        } catch {
            return false
        }
    }()

    init(bytes: Int) throws {
        folder = try TemporaryFolder()
        try Self.run(
            "mount", ["-t", "tmpfs", "-o", "size=\(bytes),mode=700", "tmpfs", folder.path])
    }

    deinit {
        do { try Self.run("umount", [folder.path]) } catch {
            print("still mounted: \(folder.path)")
        }
    }

    func file(_ name: String) -> String { folder.file(name) }

    /// Makes a file that only takes room.
    func fill(_ name: String, count: Int) throws -> String {
        try folder.write([UInt8](repeating: 1, count: count), to: name)
    }

    private static func run(_ name: String, _ arguments: [String]) throws {
        guard let status = try ForeignProgram(name)?.run(arguments).status, status == 0 else {
            throw SmallDiskError()
        }
    }
}

struct SmallDiskError: Error {}
