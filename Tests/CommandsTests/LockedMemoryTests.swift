import Foundation
import TestSupport
import Testing

struct LockedMemoryTests {
    /// Drops the capability that lets root lock any amount of memory.
    private static let withoutCapability =
        geteuid() == 0 ? "setpriv --bounding-set -ipc_lock " : ""

    @Test(
        "memory is locked up to the limit, and check warns if the limit is low",
        .enabled(if: geteuid() != 0 || ForeignProgram("setpriv") != nil, "setpriv is missing"),
        arguments: [(64, 65_536), (100, 65_536), (1_000, 524_288), (8, 0), (0, 0)])
    func limited(kilobytes: Int, locked: Int) throws {
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
}
