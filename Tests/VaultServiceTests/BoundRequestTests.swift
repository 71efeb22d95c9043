import Devices
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import VaultService

/// Requests about entries that are bound to a device, on that device and elsewhere.
struct BoundRequestTests {
    @Test("the default binding is the strongest that works here; an explicit choice is final")
    func choices() throws {
        let bound = try BoundVault()
        func key(_ binding: DeviceBinding? = nil) throws(VaultError) -> DeviceID {
            let choice = BindingChoice(binding, deviceName: "Mill", tpm: .standard)
            return try bound.store().key(
                for: choice, in: bound.unlocked(), through: bound.tokens(at:))
        }
        // After a temporary failure, no key with a weaker binding is created.
        bound.tpm.failure = .busy
        #expect(throws: VaultError.deviceKey(.token(.busy))) { try key() }
        let absent = [TokenFailure.noDevice, .noPermission, .helper(.notFound)]
        for failure in absent {
            bound.tpm.failure = failure
            #expect(throws: VaultError.deviceKey(.token(failure))) { try key(.tpm) }
        }
        #expect(throws: VaultError.deviceKey(.notPlace(.agent))) { try key(.agent) }
        #expect(try bound.keys().isEmpty)
        let file = try key()
        // A repeated enrolment uses the same key.
        #expect(try key() == file && key(.file) == file)
        // A TPM that works from now on is used in spite of that key.
        bound.tpm.failure = nil
        #expect(try key(.file) == file)
        let tpm = try key()
        #expect(tpm != file)
        #expect(try key() == tpm && key(.tpm) == tpm)
        for failure in absent {
            bound.tpm.failure = failure
            #expect(throws: VaultError.deviceKey(.token(failure))) { try key(.tpm) }
            #expect(try key() == file)
        }
        bound.tpm.failure = .busy
        #expect(throws: VaultError.deviceKey(.token(.busy))) { try key() }
        bound.tpm.failure = nil
        bound.tpm.clear()
        let other = try key()
        #expect(other != tpm)
        #expect(try key(.tpm) == other)
        #expect(Set(try bound.keys()) == Set([file, tpm, other].map(\.text)))
    }

    @Test("a key is reused only if it is sealed by the chosen TPM")
    func addresses() throws {
        let bound = try BoundVault()
        func key(_ tpm: TPMAddress, _ binding: DeviceBinding? = nil) throws -> DeviceID {
            let choice = BindingChoice(binding, deviceName: "Mill", tpm: tpm)
            return try bound.store().key(
                for: choice, in: bound.unlocked(), through: bound.tokens(at:))
        }
        let other = try #require(TPMAddress("swtpm:host=127.0.0.1,port=2321"))
        let first = try key(.standard)
        let second = try key(other)
        #expect(first != second)
        #expect(try key(other) == second && key(.standard, .tpm) == first)
        // A key in a file belongs to no TPM.
        #expect(try key(other, .file) == key(.standard, .file))
    }

    @Test("an entry is added, bound and unbound, and the outcome reports the binding")
    func edits() throws {
        let bound = try BoundVault()
        let own = try bound.own()
        #expect(try own.outcome(.add(BoundVault.entry("a"))) == .added(twin: nil, bound: .file))
        let first = try #require(own.entries.first)
        #expect(first.binding?.isHere == true && first.binding?.name == "Mill")
        let name = first.name
        // The secrets of bound entries are compared, too.
        #expect(
            try own.outcome(.add(BoundVault.entry("b", nil))) == .added(twin: name, bound: nil))
        let code = try own.codeText(of: first.id)
        var revision = EntryRevision(of: own.entries[1])
        revision.binding = .bind(BoundVault.choice)
        #expect(
            try own.outcome(.revise(revision))
                == .revised(own.entries[1].name, RevisionWarnings(), bound: .file))
        #expect(own.entries[1].binding?.device == first.binding?.device)
        #expect(try own.codeText(of: own.entries[1].id) == code)
        #expect(try bound.keys().count == 1)
        // Binding once more erases the previous generation, which may be from before a merge.
        _ = try own.outcome(.add(BoundVault.entry("c", nil)))
        #expect(Vault.holdsPrevious(at: bound.path))
        #expect(
            try own.outcome(.revise(revision))
                == .revised(own.entries[1].name, RevisionWarnings(), bound: .file))
        #expect(!Vault.holdsPrevious(at: bound.path))
        #expect(own.entries[1].binding?.device == first.binding?.device)
        revision.binding = .unbind
        #expect(
            try own.outcome(.revise(revision))
                == .revised(own.entries[1].name, RevisionWarnings(), bound: nil))
        #expect(own.entries[1].binding == nil)
        #expect(try bound.own("other").codeText(of: own.entries[1].id) == code)
    }

    @Test("a binding changes only after the check of the entry, and no key is created before")
    func checks() throws {
        let bound = try BoundVault()
        let own = try bound.own()
        _ = try own.outcome(.add(BoundVault.entry("a", nil, presence: .perUse(.any))))
        // Use up the check at unlocking.
        let entry = try #require(own.entries.first)
        _ = try own.codeText(of: entry.id)
        var revision = EntryRevision(of: entry)
        for change in [BindingChange.bind(BoundVault.choice), .unbind] {
            revision.binding = change
            #expect(
                try own.failure(.edit(own.place, .revise(revision), .none)) == .presenceNeeded)
        }
        #expect(try bound.keys().isEmpty && own.entries[0].binding == nil)
        revision.binding = .bind(BoundVault.choice)
        #expect(
            try own.outcome(.revise(revision), .opener(BoundVault.opener))
                == .revised(entry.name, RevisionWarnings(), bound: .file))
    }

    @Test("on a different device, changes that need the secret are refused at once; others work")
    func elsewhere() throws {
        let bound = try BoundVault()
        let home = try bound.own()
        _ = try home.outcome(.add(BoundVault.entry("a")))
        _ = try home.outcome(.add(BoundVault.entry("b", presence: .perUse(.any))))
        let other = try bound.own("other")
        #expect(other.entries.allSatisfy { $0.binding?.isHere == false })
        let wrong = AgentPresence.opener(.passphrase(SecretBytes(text: "guess")))
        let ids = other.entries.map(\.id)
        for id in ids {
            #expect(try other.failure(other.code(of: id)) == .boundElsewhere)
            #expect(try other.failure(other.code(of: id, wrong)) == .boundElsewhere)
            #expect(
                try other.failure(.contents(other.place, [id], .none, isUse: true))
                    == .boundElsewhere)
            for change in Self.changesOfSecret(of: try other.vault.entry(id)) {
                #expect(
                    try other.failure(.edit(other.place, .revise(change), wrong))
                        == .boundElsewhere)
            }
            guard case .lockOut(let lockOut) = try other.send(.lockOut(other.place, id)) else {
                Issue.record("no lock-out")
                return
            }
            #expect(lockOut.failures == 0)
        }
        // A change to the name or note requires the entry's check, but no secret.
        for (id, presence) in zip(ids, [AgentPresence.none, .opener(BoundVault.opener)]) {
            var revision = EntryRevision(of: try other.vault.entry(id))
            revision.issuer = "New"
            revision.details = DetailsChange(note: "n")
            guard case .revised = try other.outcome(.revise(revision), presence) else {
                Issue.record("not revised")
                return
            }
        }
        #expect(other.entries.map(\.issuer) == ["New", "New"])
        // The secret must still exist.
        let again = try bound.own()
        #expect(try again.codeText(of: ids[0]) == home.codeText(of: ids[0]))
        #expect(
            try other.outcome(.remove(ids[0], purge: false)) == .removed)
        #expect(
            try other.outcome(.remove(ids[1], purge: false), .opener(BoundVault.opener))
                == .removed)
    }

    /// A change of the key, the period, the access control or the binding.
    private static func changesOfSecret(of entry: EntrySummary) -> [EntryRevision] {
        var revisions = [EntryRevision](repeating: EntryRevision(of: entry), count: 5)
        revisions[0].codes = CodeChange(secret: SecretBytes(text: "12345678901234567899"))
        revisions[1].codes = CodeChange(period: 60)
        revisions[2].access = AccessControlChange(presence: .perUse(.passphrase))
        revisions[3].binding = .unbind
        revisions[4].binding = .bind(BoundVault.choice)
        return revisions
    }

    @Test("an import replaces a bound entry only on its device, and keeps the binding")
    func imports() throws {
        let bound = try BoundVault()
        let home = try bound.own()
        _ = try home.outcome(.add(BoundVault.entry("a")))
        let name = home.entries[0].name
        func edit(_ key: String, _ policy: DuplicatePolicy) throws -> VaultEdit {
            let content = try EditedVault.totp("Mill", "a", key: SecretBytes(text: key))
            return .importing(
                ImportEdit(
                    [ImportItem(content, details: EntryDetails(), origin: nil)],
                    DuplicateChoices(policy)))
        }
        let other = try bound.own("other")
        let new = try edit("12345678901234567899", .replace)
        #expect(
            try other.outcome(new)
                == .imported([.refused(.boundElsewhere(name))], replacedPerUse: []))
        // Elsewhere, it is unknown whether the keys are the same.
        #expect(
            try other.outcome(edit("12345678901234567890", .skip))
                == .imported([.refused(.boundElsewhere(name))], replacedPerUse: []))
        #expect(
            try home.outcome(edit("12345678901234567890", .skip))
                == .imported([.present(name, as: name, missing: [])], replacedPerUse: []))
        #expect(try home.outcome(new) == .imported([.replaced(name)], replacedPerUse: []))
        #expect(home.entries[0].binding?.isHere == true)
    }

    @Test("a key that does not load closes its entries, which report the reason and can be removed")
    func unreachable() throws {
        let bound = try BoundVault()
        let store = bound.store()
        let vault = try bound.unlocked()
        let key = try store.key(for: BoundVault.choice, in: vault, through: bound.tokens(at:))
        try vault.update { changes throws(VaultError) in
            _ = try changes.add(
                .plainSecret(issuer: "", account: "a", value: SecretBytes(text: "x")),
                boundTo: key, now: 2)
        }
        // The key of this device is in a TPM that is missing now.
        let own = OwnVault(try bound.unlocked(), at: bound.path, deviceKeys: store)
        let id = own.entries[0].id
        let failure = try #require(
            try own.failure(.contents(own.place, [id], .none, isUse: true)))
        guard case .deviceKey(.token) = failure else {
            Issue.record("\(failure)")
            return
        }
        guard case .check(let check) = try own.send(.check(own.place)) else {
            Issue.record("no check")
            return
        }
        #expect(check.damages.isEmpty)
        #expect(try own.outcome(.remove(id, purge: false)) == .removed)
        #expect(try bound.keys() == [key.text])
    }

    @Test("loading the keys of all entries asks the TPM once for each key")
    func loading() throws {
        let bound = try BoundVault()
        let store = bound.store()
        let vault = try bound.unlocked()
        let key = try store.key(for: BoundVault.choice, in: vault, through: bound.tokens(at:))
        try vault.update { changes throws(VaultError) in
            for number in 1...50 {
                try changes.add(
                    .plainSecret(issuer: "", account: "\(number)", value: SecretBytes(text: "x")),
                    boundTo: key, now: 2)
            }
        }
        let made = bound.tpm.requests
        let again = try bound.unlocked()
        #expect(bound.tpm.requests == made)
        for _ in 0..<2 { store.loadKeys(of: again, through: bound.tokens(at:)) }
        #expect(bound.tpm.requests == made + 1)
        #expect(again.entries.allSatisfy(again.holdsKey))
        // Elsewhere, no TPM is asked.
        let other = try bound.unlocked(with: bound.store("other"))
        bound.store("other").loadKeys(of: other, through: bound.tokens(at:))
        #expect(bound.tpm.requests == made + 1 && !other.holdsKey(of: other.entries[0]))
    }
}
