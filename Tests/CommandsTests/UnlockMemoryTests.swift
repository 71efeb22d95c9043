import TestSupport
import Testing

/// Vaults that need more memory than the program is allowed.
struct UnlockMemoryTests {
    @Test(
        "O-15 a slot that needs more memory than a limit allows is not tried, and nothing is counted",
        arguments: ["-v 250000", "-d 250000"])
    func limited(_ limit: String) throws {
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
