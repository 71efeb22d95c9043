import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

/// Two programs change the same entry in turn.
struct InterleavedChangeTests {
    @Test("a change is based on the state saved by another program, and fails on a wiped entry")
    func interleaved() throws {
        let vault = try TestVault()
        let id = try vault.fill()[2]
        let (slow, quick) = (try vault.unlock(), try vault.unlock())
        func revised(by vault: UnlockedVault, _ value: (SecretBytes) -> String) throws(VaultError) {
            try vault.update { changes throws(VaultError) in
                guard
                    case .plainSecret(let issuer, let account, let old) = try changes.content(
                        of: id)
                else { throw .otherKind }
                let new = secret(value(old))
                try changes.replace(
                    id, with: .plainSecret(issuer: issuer, account: account, value: new))
            }
        }
        func text(_ secret: SecretBytes) -> String {
            String(decoding: secret.copied, as: UTF8.self)
        }
        // The slower program opened the vault earlier.
        _ = try slow.open(id)
        try revised(by: quick) { _ in "new" }
        try revised(by: slow) { text($0) + "er" }
        #expect(Facts(try vault.unlock().open(id)).secret == Array("newer".utf8))
        try quick.change { try $0.wipe(id, because: .revoked, now: TestVault.now) }
        #expect(throws: VaultError.wiped) { try revised(by: slow) { text($0) + "est" } }
        #expect(try vault.unlock().entries[2].tombstone != nil)
    }
}
