import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault

struct VaultTests {
    @Test("a new vault is empty, has mode 0600, and causes no warnings")
    func newVault() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        #expect(open.entries.isEmpty)
        #expect(open.reports.isEmpty)
        #expect(open.generation == 1)
        #expect(try mode(of: vault.path) == 0o600)
        #expect(
            try vault.files() == TestVault.files.filter { $0 != TestVault.own("previous") })
    }

    @Test("missing folders are created private to their owner")
    func folders() throws {
        let folder = try TemporaryFolder()
        _ = try Vault.create(
            at: folder.file("share/watchword/vault"), passphrase: TestVault.passphrase,
            cost: .lowest, recoveryKey: nil, now: 0)
        #expect(try mode(of: folder.file("share")) == 0o700)
        #expect(try mode(of: folder.file("share/watchword")) == 0o700)
    }

    @Test("times before 1970 are stored as 1970")
    func clockSetBack() throws {
        let folder = try TemporaryFolder()
        _ = try Vault.create(
            at: folder.file("vault"), passphrase: TestVault.passphrase, cost: .lowest,
            recoveryKey: RecoveryKey.make(), now: -5)
        let open = try Vault.unlock(
            at: folder.file("vault"), with: .passphrase(TestVault.passphrase))
        try open.update { changes throws(VaultError) in
            try changes.add(.plainSecret(issuer: "a", account: "", value: secret("x")), now: -5)
        }
        #expect(open.slots.map(\.created) == [0, 0])
        #expect(open.entries.map(\.created) == [0])
    }

    @Test("creating a vault does not overwrite an existing one")
    func twice() throws {
        let vault = try TestVault()
        let before = try vault.bytes()
        #expect(throws: VaultError.alreadyExists) {
            try Vault.create(
                at: vault.path, passphrase: secret("other"), cost: .lowest,
                recoveryKey: nil, now: 0)
        }
        #expect(try vault.bytes() == before)
    }

    @Test("every kind of entry is read back unchanged, in order")
    func kinds() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        #expect(open.entries.map(\.id) == ids)
        #expect(open.entries.map(\.kind) == [.totp, .hotp, .secret, .enrolled])
        #expect(open.entries.map(\.issuer) == ["GitHub", "Bänk", "Wi-Fi", "shop"])
        #expect(open.entries.map(\.account) == ["alice@example.com", "", "home", "alice"])
        #expect(open.entries.map(\.algorithm) == [.sha1, .sha512, nil, nil])
        #expect(open.entries.map(\.style) == [.decimal(.six), .decimal(.eight), nil, nil])
        #expect(open.entries.map(\.period) == [30, nil, nil, nil])
        #expect(open.entries.allSatisfy { $0.created == TestVault.now })
        let opened = try ids.map { Facts(try open.open($0)) }
        #expect(opened == (try TestVault.contents().map(Facts.init)))
    }

    @Test("by default, failures wipe enrolled secrets and lock out other entries")
    func standardAccess() throws {
        let vault = try TestVault()
        _ = try vault.fill()
        let failures = try vault.unlock().entries.map(\.accessControl.onFailure)
        #expect(failures == [.lockOut, .lockOut, .lockOut, .wipe(after: .three)])
    }

    @Test("access control is read back as it was set")
    func access() throws {
        let vault = try TestVault()
        let count = try #require(FailureCount(7))
        let access = AccessControl(presence: .perUse(.any), onFailure: .wipe(after: count))
        try vault.unlock().update { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "a", account: "b", value: secret("c")), accessControl: access,
                now: 0)
        }
        #expect(try vault.unlock().entries.map(\.accessControl) == [access])
    }

    @Test("a wrong passphrase does not open the vault, and the right one does")
    func wrongPassphrase() throws {
        let vault = try TestVault()
        #expect(throws: VaultError.wrongPassphrase) {
            try Vault.unlock(
                at: vault.path, with: .passphrase(secret("correct horse battery stapl")))
        }
        #expect(throws: Never.self) { try vault.unlock() }
    }

    @Test("replacing an entry's content keeps its ID and position")
    func replacing() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        let new = EntryContent.plainSecret(issuer: "new", account: "name", value: secret("new"))
        try open.change { try $0.replace(ids[0], with: new) }
        #expect(open.entries.map(\.id) == ids)
        #expect(Facts(try vault.unlock().open(ids[0])) == Facts(new))
        #expect(Facts(try open.open(ids[1])) == Facts(try TestVault.contents()[1]))
    }

    @Test("renaming an entry does not change its secret")
    func renaming() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        try open.change { try $0.rename(ids[2], issuer: "Wi-Fi", account: "office") }
        let entry = try vault.unlock().open(ids[2])
        #expect(entry.account == "office")
        #expect(Facts(entry).secret == Array("a plain password".utf8))
    }

    @Test(
        "a name with a leading or trailing space is refused, and one with an inner space is accepted"
    )
    func spaces() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        for name in ["Git Hub ", "\u{A0}Git Hub", "Git Hub\u{3000}", "Git Hub\u{2003}"] {
            for (issuer, account) in [(name, ""), ("", name)] {
                #expect(throws: VaultError.spaceAroundName) {
                    try open.change { try $0.rename(ids[0], issuer: issuer, account: account) }
                }
                #expect(throws: VaultError.spaceAroundName) {
                    try open.update { changes throws(VaultError) in
                        try changes.add(
                            .plainSecret(issuer: issuer, account: account, value: secret("x")),
                            now: TestVault.now)
                    }
                }
            }
        }
        try open.change { try $0.rename(ids[0], issuer: "Git Hub", account: "") }
        #expect(try vault.unlock().entries[0].issuer == "Git Hub")
    }

    @Test("a removed entry is gone, and its ID is unknown")
    func removing() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let open = try vault.unlock()
        try open.change { try $0.remove(ids[1], purge: false) }
        #expect(try vault.unlock().entries.map(\.id) == [ids[0], ids[2], ids[3]])
        #expect(throws: VaultError.noSuchEntry) { try open.open(ids[1]) }
        #expect(throws: VaultError.noSuchEntry) {
            try open.change { try $0.remove(ids[1], purge: false) }
        }
    }

    @Test("an update that throws or makes no change does not save the vault")
    func noSaving() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let before = try vault.bytes()
        let open = try vault.unlock()
        #expect(throws: VaultError.noSuchSlot) {
            try open.update { changes throws(VaultError) in
                try changes.remove(ids[0], purge: false)
                throw .noSuchSlot
            }
        }
        let count = try open.update { changes in changes.entries.count }
        #expect(count == 4)
        #expect(try vault.bytes() == before)
        #expect(open.entries.count == 4)
    }

    @Test("a save keeps the changes that another open instance of the vault has saved")
    func twoOpen() throws {
        let vault = try TestVault()
        let (first, second) = (try vault.unlock(), try vault.unlock())
        for (index, open) in [first, second, first].enumerated() {
            try open.update { changes throws(VaultError) in
                try changes.add(
                    .plainSecret(issuer: "\(index)", account: "", value: secret("x")), now: 0)
            }
        }
        #expect(first.entries.map(\.issuer) == ["0", "1", "2"])
        #expect(try vault.unlock().generation == 4)
    }

    @Test("a vault that has replaced the open vault is not overwritten")
    func replaced() throws {
        let (vault, other) = (try TestVault(), try TestVault())
        let open = try vault.unlock()
        try vault.put(try other.bytes())
        #expect(throws: VaultError.replaced) {
            try open.update { changes throws(VaultError) in
                try changes.add(
                    .plainSecret(issuer: "a", account: "", value: secret("x")), now: 0)
            }
        }
        #expect(try vault.bytes() == other.bytes())
    }

    @Test("the same secret is recognised under any name, and a different secret is not")
    func fingerprints() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let (same, other) = try vault.unlock().update { changes throws(VaultError) in
            (
                try changes.entries(
                    withSecretOf: .plainSecret(
                        issuer: "other", account: "name", value: secret("a plain password"))),
                try changes.entries(
                    withSecretOf: .plainSecret(
                        issuer: "Wi-Fi", account: "home", value: secret("a plain passwort")))
            )
        }
        #expect(same == [ids[2]])
        #expect(other.isEmpty)
    }

    @Test(
        "an entry is found by its secret until it is replaced or removed")
    func fingerprintsMeanwhile() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let content = EntryContent.plainSecret(issuer: "x", account: "", value: secret("new"))
        let other = EntryContent.plainSecret(issuer: "y", account: "", value: secret("newer"))
        try vault.unlock().update { changes throws(VaultError) in
            #expect(try changes.entries(withSecretOf: content) == [])
            let added = try changes.add(content, now: 0)
            #expect(try changes.entries(withSecretOf: content) == [added])
            try changes.replace(ids[0], with: content)
            #expect(try changes.entries(withSecretOf: content) == [ids[0], added])
            try changes.replace(added, with: other)
            #expect(try changes.entries(withSecretOf: content) == [ids[0]])
            try changes.remove(ids[0], purge: false)
            #expect(try changes.entries(withSecretOf: content) == [])
            #expect(try changes.entries(withSecretOf: other) == [added])
        }
    }

    @Test("a per-use entry is found by its secret only after its check, or with a new secret")
    func protectedFingerprints() throws {
        let vault = try TestVault()
        func content(_ word: String) -> EntryContent {
            .plainSecret(issuer: word, account: "", value: secret(word))
        }
        let access = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        let id = try vault.unlock().update { changes throws(VaultError) in
            let id = try changes.add(content("old"), accessControl: access, now: 0)
            #expect(try changes.entries(withSecretOf: content("old")) == [id])
            return id
        }
        try vault.unlock().update { changes throws(VaultError) in
            #expect(try changes.entries(withSecretOf: content("old")) == [])
            changes.findChecked([id])
            #expect(try changes.entries(withSecretOf: content("old")) == [id])
        }
        try vault.unlock().update { changes throws(VaultError) in
            #expect(try changes.entries(withSecretOf: content("old")) == [])
            try changes.advance(id, to: content("old"))
            #expect(try changes.entries(withSecretOf: content("old")) == [])
            try changes.replace(id, with: content("new"))
            #expect(try changes.entries(withSecretOf: content("new")) == [id])
        }
    }

    @Test("thousands of secrets are looked up and replaced in one change")
    func manyReplaced() throws {
        let vault = try TestVault()
        let count = 5_000
        func content(_ index: Int, _ word: String) -> EntryContent {
            .plainSecret(issuer: "\(index)", account: "", value: secret("\(word) \(index)"))
        }
        try vault.unlock().update { changes throws(VaultError) in
            let ids = try (0..<count).map { index throws(VaultError) in
                try changes.add(content(index, "old"), now: 0)
            }
            for index in 0..<count {
                #expect(try changes.entries(equivalentTo: content(index, "old")) == [ids[index]])
                try changes.replace(ids[index], with: content(index, "new"))
            }
            #expect(try changes.entries(equivalentTo: content(7, "old")) == [])
            #expect(try changes.entries(equivalentTo: content(7, "new")) == [ids[7]])
            try changes.remove(ids[0], purge: false)
            #expect(try changes.entry(ids[7]).issuer == "7")
        }
        #expect(try vault.unlock().entries.count == count - 1)
    }

    @Test("entries with the same key and parameters are equivalent under any name")
    func equivalentEntries() throws {
        let vault = try TestVault()
        let ids = try vault.fill()
        let content = try vault.unlock().open(ids[0])
        guard case .oneTimePassword(let credential) = content,
            case .time(let step) = credential.movingFactor
        else {
            Issue.record("the first entry is not time-based")
            return
        }
        func like(_ style: CodeStyle, _ step: TimeStep) throws -> EntryContent {
            .oneTimePassword(
                try Credential(
                    issuer: "other", account: "name", key: credential.key,
                    algorithm: credential.algorithm, style: style, movingFactor: .time(step)))
        }
        let longer = try #require(TimeStep(period: step.period + 1, start: step.start))
        let alike = try like(credential.style, step)
        let others = [try like(.steam, step), try like(credential.style, longer)]
        try vault.unlock().update { changes throws(VaultError) in
            #expect(try changes.entries(equivalentTo: alike) == [ids[0]])
            for other in others {
                #expect(try changes.entries(withSecretOf: other) == [ids[0]])
                #expect(try changes.entries(equivalentTo: other) == [])
            }
        }
    }

    @Test("the presence check at unlock opens a per-use entry once")
    func perUse() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        let access = AccessControl(presence: .perUse(.any), onFailure: .lockOut)
        let content = EntryContent.plainSecret(issuer: "a", account: "", value: secret("x"))
        let (id, other) = try open.update { changes throws(VaultError) in
            (
                try changes.add(content, accessControl: access, now: 0),
                try changes.add(content, now: 0)
            )
        }
        _ = try open.open(id)
        #expect(throws: VaultError.presenceNeeded) { try open.open(id) }
        for _ in 0..<3 { _ = try open.open(other) }
    }

    @Test("the limits of names and secrets are exact to the byte")
    func limits() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        func add(name: Int, secret count: Int) throws(VaultError) {
            let value = SecretBytes(copying: [UInt8](repeating: 7, count: count).span)
            try open.update { changes throws(VaultError) in
                try changes.add(
                    .plainSecret(
                        issuer: String(repeating: "n", count: name), account: "", value: value),
                    now: 0)
            }
        }
        try add(name: 4096, secret: 65_536)
        #expect(throws: VaultError.overLimit(.name)) { try add(name: 4097, secret: 1) }
        #expect(throws: VaultError.overLimit(.secret)) { try add(name: 1, secret: 65_537) }
        #expect(try vault.unlock().entries.count == 1)
    }
}
