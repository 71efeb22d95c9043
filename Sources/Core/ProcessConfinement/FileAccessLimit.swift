internal import CLinux
internal import Glibc
public import WatchwordSystem

/// Limits the files that this process can open for the rest of its life, where the kernel supports
/// it (Landlock).
public enum FileAccessLimit {
    /// Moving a file to another folder needs this version; earlier versions forbid it altogether.
    private static let leastVersion: Int32 = 2

    /// From here on, this thread and the threads that it starts can open only the contents of
    /// `folders`, and can also read `files`.
    ///
    /// A file or folder that does not exist is skipped. The process must not be able to gain
    /// privileges (`PR_SET_NO_NEW_PRIVS`).
    ///
    /// - Returns: whether the kernel supports it; if not, nothing is limited.
    public static func enter(
        folders: [String], files: [String]
    ) throws(SystemCallFailure) -> Bool {
        let version = linux_landlock_version()
        guard version >= leastVersion else { return false }
        let rules = try call("landlock_create_ruleset") { linux_landlock_make(version) }
        let owned = FileDescriptor(owning: rules)
        for (paths, writes) in [(folders, true), (files, false)] {
            for path in paths { try allow(path, writes: writes, by: owned, version) }
        }
        try enter(owned)
        return true
    }

    /// The calls that change who may open a file; Landlock does not limit them.
    private static let modeChanges: [StaticString] = [
        "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat",
        "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr",
        "fremovexattr", "removexattrat",
    ]

    /// From here on, this thread and the programs that it starts cannot open anything in `folder`,
    /// nor trace a process that can, nor change who may open any file.
    ///
    /// Landlock has no exceptions, so this allows access to the siblings of the folder and of each
    /// of its parents, on every path to the folder, if they exist now and this process can list
    /// them. The parents themselves can no longer be listed. This process can no longer gain
    /// privileges. An older kernel limits nothing.
    public static func leaveOut(_ folder: String) throws(SystemCallFailure) {
        let version = linux_landlock_version()
        guard version >= leastVersion else { return }
        let names = Folder.parts(of: try realPath(of: folder))
        let rules = try call("landlock_create_ruleset") { linux_landlock_make_for_files(version) }
        let owned = FileDescriptor(owning: rules)
        let paths = [names] + (try MountTable.current()).otherPaths(to: names)
        try allow(in: "", beside: paths.map { $0[...] }, by: owned, version)
        try call("prctl") { linux_prctl(Int32(LINUX_PR_SET_NO_NEW_PRIVS), 1) }
        try enter(owned)
        try SystemCallFilter.refusing(modeChanges, with: EPERM).load()
    }

    /// Allows each entry of a folder that is neither the end of one of these paths nor on the way
    /// to it.
    private static func allow(
        in folder: String, beside paths: [ArraySlice<String>], by rules: borrowing FileDescriptor,
        _ version: Int32
    ) throws(SystemCallFailure) {
        for name in try listed(folder + "/") {
            let path = "\(folder)/\(name)"
            let rest = paths.filter { $0.first == name }.map { $0.dropFirst() }
            if rest.isEmpty {
                guard
                    unsafe linux_landlock_allow_all(rules.number, version, path) != 0,
                    errno != ENOENT, errno != EACCES
                else { continue }
                throw SystemCallFailure(call: "landlock_add_rule", number: errno)
            } else if rest.allSatisfy({ !$0.isEmpty }) {
                try allow(in: path, beside: rest, by: rules, version)
            }
        }
    }

    private static func listed(_ folder: String) throws(SystemCallFailure) -> [String] {
        let names = try SystemCallFailure.nilIf(
            { $0.number == EACCES || $0.isMissing }, Folder.names(at: folder))
        return names ?? []
    }

    private static func realPath(of path: String) throws(SystemCallFailure) -> String {
        guard let found = unsafe realpath(path, nil) else {
            throw SystemCallFailure(call: "realpath", number: errno)
        }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// From here on, this thread can connect over TCP only to these ports, where the kernel
    /// supports it (Linux 6.7).
    static func limitConnections(to ports: [UInt16]) throws(SystemCallFailure) {
        let version = linux_landlock_version()
        guard version >= 4 else { return }
        let rules = try call("landlock_create_ruleset") {
            linux_landlock_make_for_connecting(version)
        }
        let owned = FileDescriptor(owning: rules)
        for port in ports {
            try call("landlock_add_rule") { linux_landlock_allow_port(owned.number, port) }
        }
        try enter(owned)
    }

    private static func enter(_ rules: borrowing FileDescriptor) throws(SystemCallFailure) {
        try call("landlock_restrict_self") { linux_landlock_enter(rules.number) }
    }

    private static func allow(
        _ path: String, writes: Bool, by rules: borrowing FileDescriptor, _ version: Int32
    ) throws(SystemCallFailure) {
        let opened = try SystemCallFailure.nilIf(\.isMissing, FileDescriptor(reading: path))
        guard let file = opened else { return }
        guard linux_landlock_allow(rules.number, version, file.number, writes ? 1 : 0) == 0 else {
            throw SystemCallFailure(call: "landlock_add_rule", number: errno)
        }
    }
}

/// Where file systems are mounted: `/proc/self/mountinfo` (proc(5)).
struct MountTable {
    private struct Mount {
        let device: Substring
        /// The part of the file system that is mounted, as the names of folders.
        let root: [String]
        let point: [String]
    }

    private let mounts: [Mount]

    /// The mounts that this process sees now.
    static func current() throws(SystemCallFailure) -> MountTable {
        let file = try FileDescriptor(reading: "/proc/self/mountinfo")
        let text = try file.bytes(atMost: 1 << 20)
        return MountTable(parsing: String(decoding: text, as: UTF8.self))
    }

    /// Reads the lines of the table, and ignores malformed lines.
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
            // A later mount hides an earlier mount.
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
