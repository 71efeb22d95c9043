import TestSupport
import Testing

/// Vaults that ask for more memory than the program may have.
struct UnlockMemoryTests {
    @Test(
        "O-15 a slot that needs more memory than a limit allows is not tried, and nothing is counted",
        arguments: ["-v 250000", "-d 250000"])
    func limited(_ limit: String) throws {
        let fixture = try VaultFixture([])
        let dear = "--vault dear/vault --passphrase-file pass.txt"
        try fixture.run("watchword init -q --scrypt-log-n 18 --no-recovery-key \(dear)")
        // More often than failures are free.
        for _ in 0..<6 {
            let refused = try fixture.run("ulimit \(limit); watchword list \(dear)", status: 3)
            let words = String(decoding: refused.errors, as: UTF8.self)
            #expect(words.contains("takes 256 MiB of memory, and this program may have 244 MiB"))
        }
        try fixture.run("watchword list \(dear)")
    }
}
