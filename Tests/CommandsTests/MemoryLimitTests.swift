import Foundation
import TestSupport
import Testing

/// A process that is not allowed to lock or use as much memory as it needs.
struct MemoryLimitTests {
    /// Drops the capability that lets root lock any amount of memory.
    private static let withoutCapability =
        geteuid() == 0 ? "setpriv --bounding-set -ipc_lock " : ""

    @Test(
        "memory is locked up to the limit, and check warns if the limit is low",
        .enabled(if: geteuid() != 0 || ForeignProgram("setpriv") != nil, "setpriv is missing"),
        arguments: [(64, 65_536), (100, 65_536), (1_000, 524_288), (8, 0), (0, 0)])
    func locking(kilobytes: Int, locked: Int) throws {
        let fixture = try VaultFixture()
        let outcome = try fixture.run(
            "ulimit -l \(kilobytes); exec \(Self.withoutCapability)watchword check --json "
                + "--passphrase-file pass.txt")
        #expect(outcome.text.contains("\"locked_memory\":\(locked),"))
        let amount =
            locked == 0
            ? "no memory can be locked" : "only \(locked >> 10) KiB of memory can be locked"
        let errors = String(decoding: outcome.errors, as: UTF8.self)
        #expect(errors.contains("warning: \(amount) (RLIMIT_MEMLOCK)"))
        #expect(errors.contains("/etc/security/limits.conf"))
    }

    @Test(
        "O-15 a slot that needs more memory than allowed is not tried, and no attempt is counted",
        arguments: ["-v 250000", "-d 250000"])
    func unlocking(_ limit: String) throws {
        let fixture = try VaultFixture([])
        let dear = "--vault dear/vault --passphrase-file pass.txt"
        try fixture.run("watchword init -q --scrypt-log-n 18 --no-recovery-key \(dear)")
        // More attempts than are allowed without a wait.
        for _ in 0..<6 {
            let refused = try fixture.run("ulimit \(limit); watchword list \(dear)", status: 3)
            let words = String(decoding: refused.errors, as: UTF8.self)
            #expect(words.contains("needs 256 MiB of memory, and only 244 MiB is available"))
        }
        try fixture.run("watchword list \(dear)")
    }
}
