internal import CLinux
internal import Glibc

/// Limits the files that this process can open for the rest of its life, where the kernel supports it
/// (Landlock).
public enum FileAccessLimit {
    /// Moving a file to another folder needs this version; earlier ones forbid it altogether.
    private static let leastVersion: Int32 = 2

    /// From here on, this thread and the threads that it starts can open only what is below
    /// `folders`, and read only `files` besides.
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
        let rules = linux_landlock_make(version)
        guard rules >= 0 else {
            throw SystemCallFailure(call: "landlock_create_ruleset", number: errno)
        }
        let owned = FileDescriptor(owning: rules)
        for (paths, writes) in [(folders, true), (files, false)] {
            for path in paths { try allow(path, writes: writes, by: owned, version) }
        }
        guard linux_landlock_enter(owned.number) == 0 else {
            throw SystemCallFailure(call: "landlock_restrict_self", number: errno)
        }
        return true
    }

    private static func allow(
        _ path: String, writes: Bool, by rules: borrowing FileDescriptor, _ version: Int32
    ) throws(SystemCallFailure) {
        let file: FileDescriptor
        do { file = try FileDescriptor(reading: path) } catch  where error.isMissing { return }
        guard linux_landlock_allow(rules.number, version, file.number, writes ? 1 : 0) == 0 else {
            throw SystemCallFailure(call: "landlock_add_rule", number: errno)
        }
    }
}
