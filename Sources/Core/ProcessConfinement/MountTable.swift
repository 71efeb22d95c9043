internal import WatchwordSystem

/// Where file systems are mounted: `/proc/self/mountinfo` (proc(5)).
struct MountTable {
    private struct Mount {
        let device: Substring
        /// The part of the file system that is mounted, as the names of folders.
        let root: [String]
        let point: [String]
    }

    private let mounts: [Mount]

    /// What is mounted now, for this process.
    static func current() throws(SystemCallFailure) -> MountTable {
        let file = try FileDescriptor(reading: "/proc/self/mountinfo")
        let text = try file.bytes(atMost: 1 << 20)
        return MountTable(parsing: String(decoding: text, as: UTF8.self))
    }

    /// Reads the table's lines, and ignores others.
    init(parsing text: String) {
        mounts = text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 4 else { return nil }
            return Mount(
                device: words[2], root: MountTable.names(in: words[3]),
                point: MountTable.names(in: words[4]))
        }
    }

    /// The other paths, as the names of folders, to a folder or to a part of it.
    func otherPaths(to folder: [String]) -> [[String]] {
        var own: Mount?
        for mount in mounts where folder.starts(with: mount.point) {
            // A later one hides an earlier one.
            if mount.point.count >= own?.point.count ?? 0 { own = mount }
        }
        guard let own else { return [] }
        let inside = own.root + folder.dropFirst(own.point.count)
        let paths = mounts.filter { $0.device == own.device }.compactMap { mount -> [String]? in
            if inside.starts(with: mount.root) {
                return mount.point + inside.dropFirst(mount.root.count)
            }
            return mount.root.starts(with: inside) ? mount.point : nil
        }
        return paths.filter { $0 != folder }
    }

    /// The names in a path, whose spaces, line feeds and the like are octal numbers.
    private static func names(in path: Substring) -> [String] {
        let parts = path.split(separator: "\\", omittingEmptySubsequences: false)
        var bytes = Array(parts[0].utf8)
        for part in parts.dropFirst() {
            if let byte = UInt8(part.prefix(3), radix: 8) { bytes.append(byte) }
            bytes += part.dropFirst(3).utf8
        }
        return Folder.parts(of: String(decoding: bytes, as: UTF8.self))
    }
}
