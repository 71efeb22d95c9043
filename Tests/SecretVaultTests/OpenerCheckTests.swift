import Devices
import TestSupport
import Testing

@testable import SecretVault

struct OpenerCheckTests {
    @Test("checking a passphrase or recovery key against an open vault is not counted")
    func openedBy() throws {
        let (vault, _) = try AccessControlCheckTests().made()
        let open = try vault.unlock()
        let key = try #require(vault.recoveryKey)
        #expect(try open.isOpened(by: .passphrase(TestVault.passphrase)))
        #expect(try open.isOpened(by: .recoveryKey(key)))
        for _ in 0..<9 { #expect(try !open.isOpened(by: .passphrase(secret("wrong")))) }
        #expect(try vault.attempts().isEmpty)
    }

    @Test("a passphrase check has the cryptographic grade and is counted like any other check")
    func openerCheck() throws {
        let (vault, ids) = try AccessControlCheckTests().made()
        let open = try vault.unlock()
        func proof(_ opener: VaultOpener) throws -> PresenceProof<Cryptographic> {
            var check = OpenerCheck(opener, of: open)
            return try open.proof(&check, for: ids[0])
        }
        do {
            _ = try proof(.passphrase(secret("wrong")))
            Issue.record("a wrong passphrase yielded a proof")
        } catch NoProof<OpenerCheck.Failure>.refused(let cost) {
            #expect(cost == .free(left: LockOutPolicy.failuresUntilWait - 2))
        }
        #expect(try vault.attempts().records[ids[0]]?.failures.count == 1)
        let key = try #require(vault.recoveryKey)
        for opener in [VaultOpener.passphrase(TestVault.passphrase), .recoveryKey(key)] {
            #expect(try open.open(ids[0], proof: proof(opener)).issuer == "GitHub")
            #expect(try vault.attempts().isEmpty)
        }
    }
}
