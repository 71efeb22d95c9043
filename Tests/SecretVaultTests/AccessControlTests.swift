import Testing

@testable import SecretVault

struct AccessControlTests {
    private static let strict = AccessControl(presence: .perUse, onFailure: .wipe(after: .three))

    @Test("an entry's access control changes, and its secret, name, place and time stay")
    func changed() throws {
        let made = try TestVault()
        let ids = try made.fill()
        let before = try made.unlock()
        for id in ids {
            let secret = try Facts(before.open(id))
            try made.unlock().update { changes throws(VaultError) in
                try changes.setAccessControl(of: id, to: Self.strict)
            }
            let after = try made.unlock()
            #expect(after.entries.map(\.id) == ids)
            let entry = try #require(after.entries.first { $0.id == id })
            #expect(entry.accessControl == Self.strict)
            #expect(entry.created == TestVault.now)
            #expect(try Facts(after.open(id)) == secret)
        }
    }

    @Test("an entry that is not there can't be protected")
    func missing() throws {
        let made = try TestVault()
        let id = try made.fill()[0]
        let vault = try made.unlock()
        try vault.update { changes throws(VaultError) in try changes.remove(id, purge: false) }
        #expect(throws: VaultError.noSuchEntry) {
            try vault.update { changes throws(VaultError) in
                try changes.setAccessControl(of: id, to: Self.strict)
            }
        }
    }
}
