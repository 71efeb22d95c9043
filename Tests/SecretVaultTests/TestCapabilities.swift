import Foundation
import TestSupport

/// The privileged operations that a test can perform on this machine.
enum TestCapabilities {
    /// Whether a small file system can be mounted, in order to fill it.
    static let canMount = succeeds { folder in
        let options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
        return try run("mount", options) && run("umount", [folder])
    }

    /// Whether a folder can be made read-only: by its mode, or as root with the immutable flag.
    static let canMakeReadOnly =
        geteuid() != 0
        || succeeds { folder in
            try run("chattr", ["+i", folder]) && run("chattr", ["-i", folder])
        }

    /// Whether `strace` is installed and can trace a program, which some containers forbid.
    static let canTrace = ForeignProgram.canTrace

    private static func run(_ name: String, _ arguments: [String]) throws -> Bool {
        guard let program = ForeignProgram(name) else { return false }
        return try program.run(arguments).status == 0
    }

    private static func succeeds(_ body: (String) throws -> Bool) -> Bool {
        do {
            let folder = try TemporaryFolder()
            return try body(folder.path)
        } catch {
            return false
        }
    }
}
