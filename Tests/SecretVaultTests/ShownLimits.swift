import Foundation
import TestSupport

/// What this machine lets a test do to its own folders; where it does not, the test says what is missing.
enum ShownLimits {
    /// Whether a small disk of one's own can be mounted, so that it can be full.
    static let canMount = succeeds { folder in
        let options = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
        return try run("mount", options) && run("umount", [folder])
    }

    /// Whether a folder can be made read-only: by its mode, or for root by making it immutable.
    static let canMakeReadOnly =
        geteuid() != 0
        || succeeds { folder in
            try run("chattr", ["+i", folder]) && run("chattr", ["-i", folder])
        }

    /// Whether `strace` is there and may trace a program; some containers forbid it.
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
