/// A small disk for one test that can be filled and made read-only.
public final class SmallDisk {
    /// The folder where it is mounted.
    public let folder: TemporaryFolder

    /// Whether this machine allows mounting a disk.
    public static let canMount: Bool = {
        do {
            _ = try SmallDisk(bytes: 1 << 16)
            return true
        } catch {
            return false
        }
    }()

    /// Mounts an empty disk of the given size.
    public init(bytes: Int) throws {
        folder = try TemporaryFolder()
        try Self.run(
            "mount", ["-t", "tmpfs", "-o", "size=\(bytes),mode=700", "tmpfs", folder.path])
    }

    deinit {
        do { try Self.run("umount", [folder.path]) } catch {
            print("still mounted: \(folder.path)")
        }
    }

    /// The path of `name` on the disk.
    public func file(_ name: String) -> String { folder.file(name) }

    /// Creates a file of `count` bytes that only takes up space.
    @discardableResult
    public func fill(_ name: String, count: Int) throws -> String {
        try folder.write([UInt8](repeating: 1, count: count), to: name)
    }

    /// Fills the remaining space.
    public func fillUp() throws {
        let filler = folder.file("filler")
        guard let dd = ForeignProgram("dd") else { throw SmallDiskError() }
        let outcome = try dd.run(["if=/dev/zero", "of=\(filler)", "bs=1024"])
        guard outcome.status != 0 else { throw SmallDiskError() }
    }

    /// Makes the disk read-only, or writable again.
    public func setReadOnly(_ isReadOnly: Bool) throws {
        try Self.run("mount", ["-o", "remount,\(isReadOnly ? "ro" : "rw")", folder.path])
    }

    private static func run(_ name: String, _ arguments: [String]) throws {
        guard let status = try ForeignProgram(name)?.run(arguments).status, status == 0 else {
            throw SmallDiskError()
        }
    }
}

/// A disk could not be mounted, filled or changed.
public struct SmallDiskError: Error {}
