import OneTimePassword
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

@testable import VaultService

struct ImportEditTests {
    private static let otherKey = SecretBytes(text: "the key of another account")

    private func item(_ content: EntryContent, tags: [String] = [], note: String = "")
        -> ImportItem
    {
        ImportItem(content, details: EntryDetails(tags: tags, note: note), origin: nil)
    }

    private func outcomes(
        _ items: [ImportItem], _ policy: DuplicatePolicy = .skip, in edited: EditedVault,
        confirmedBy confirmations: Confirmations = Confirmations()
    ) throws -> [ItemOutcome] {
        let edit = VaultEdit.importing(ImportEdit(items, DuplicateChoices(policy)))
        guard
            case .imported(let items, _) = try edited.perform(edit, confirmedBy: confirmations)
        else { return [] }
        return items
    }

    @Test("each item has its own outcome, and an item that is too long does not stop the others")
    func outcomes() throws {
        let edited = try EditedVault()
        try edited.add(EditedVault.totp("a", "b"), tags: ["x"])
        try edited.add(EditedVault.hotp("counter", counter: 5, key: Self.otherKey))
        let ab = EntryName(typed: "a:b")
        let counter = EntryName(typed: "counter")
        let long = String(repeating: "n", count: 5000)
        let found = try outcomes(
            [
                item(EditedVault.totp("c", "d"), tags: ["x"]),
                item(EditedVault.totp("a", "b"), tags: ["y"], note: "n"),
                item(EditedVault.totp("a", "b", key: Self.otherKey)),
                item(EditedVault.hotp("copy", counter: 9, key: Self.otherKey)),
                item(EditedVault.hotp("copy", counter: 7, key: Self.otherKey)),
                item(EditedVault.totp("", long, key: SecretBytes(text: "a third key"))),
                item(EditedVault.totp("new", "", key: SecretBytes(text: "a fourth key"))),
            ], in: edited)
        #expect(
            found == [
                .present(EntryName(typed: "c:d"), as: ab, missing: []),
                .updated(ab, as: ab, [.details], missing: []),
                .refused(.nameTaken(ab)),
                .updated(
                    EntryName(typed: "copy"), as: counter, [.counter(from: 5, to: 9)],
                    missing: []),
                .present(EntryName(typed: "copy"), as: counter, missing: []),
                .refused(.tooLong), .added(EntryName(typed: "new:")),
            ])
        #expect(edited.vault.entries.map(\.details.tags) == [["x", "y"], [], []])
        #expect(try edited.counter(of: edited.vault.entries[1].id) == 9)
    }

    @Test("if duplicates are kept, only an item with the same key and name counts as repeated")
    func kept() throws {
        let items = try [("a", "b"), ("a", "c"), ("a", "b"), ("d", "c")].map {
            item(try EditedVault.totp($0, $1))
        }
        let names = ["a:b", "a:c", "d:c"].map { EntryName(typed: $0) }
        let edited = try EditedVault()
        #expect(
            try outcomes(items, .keep, in: edited)
                == [
                    .added(names[0]), .added(names[1]),
                    .present(names[0], as: names[0], missing: []), .added(names[2]),
                ])
        #expect(edited.vault.entries.map(\.name) == names)
        // Otherwise, entries of other apps with the same key become one entry.
        let other = try EditedVault()
        #expect(try outcomes(items, .skip, in: other).count == 4)
        #expect(other.vault.entries.map(\.name) == [names[0]])
    }

    @Test("an import adds at most a hundred entries with the same key")
    func repeatedKey() throws {
        let edited = try EditedVault()
        let items = try (1...101).map { (period: Int64) in
            let credential = try Credential(
                issuer: "", account: "\(period)", key: EditedVault.key,
                movingFactor: .time(#require(TimeStep(period: period))))
            return item(.oneTimePassword(credential))
        }
        let found = try outcomes(items, in: edited)
        #expect(found.last == .refused(.keyRepeatedTooOften))
        #expect(edited.vault.entries.count == 100)
    }

    @Test("an entry replaced by one with the same key keeps its counter if that is greater")
    func replacedCounter() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.hotp("a", counter: 5))
        for (key, counter) in [(EditedVault.key, UInt64(5)), (Self.otherKey, 3)] {
            let new = item(try EditedVault.hotp("a", counter: 3, key: key))
            #expect(try outcomes([new], .replace, in: edited) == [.replaced(entry.name)])
            #expect(try edited.counter(of: entry.id) == counter)
        }
    }

    @Test("an entry that replaces a wiped one keeps its access control")
    func replacedWiped() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.totp("a", "b"), presence: .perUse(.pam))
        try edited.vault.update { changes throws(VaultError) in
            try changes.wipe(entry.id, because: .failures, now: 2)
        }
        let new = item(try EditedVault.totp("a", "b", key: Self.otherKey))
        #expect(try outcomes([new], .replace, in: edited) == [.replaced(entry.name)])
        #expect(edited.vault.entries.map(\.accessControl) == [entry.accessControl])
        #expect(edited.vault.entries[0].tombstone == nil)
    }

    @Test("the user's choice for a name is applied, and the policy applies to the other names")
    func choices() throws {
        let names = ["a", "b", "c", "d"].map { EntryName(typed: $0) }
        let edited = try EditedVault()
        for name in names {
            try edited.add(EditedVault.totp("", name.account, key: SecretBytes(text: name.text)))
        }
        var choices = DuplicateChoices(.skip)
        #expect(!choices.mayReplace)
        for (name, policy) in zip(names, [DuplicatePolicy.replace, .keep, .skip]) {
            choices.choose(policy, for: name)
        }
        #expect(choices.mayReplace)
        let items = try names.map { name in
            item(
                try EditedVault.totp("", name.account, key: SecretBytes(text: name.text + "2")))
        }
        let outcome = try edited.perform(.importing(ImportEdit(items, choices)))
        #expect(
            outcome
                == .imported(
                    [
                        .replaced(names[0]), .added(names[1]), .declined(names[2]),
                        .refused(.nameTaken(names[3])),
                    ], replacedPerUse: []))
        #expect(edited.vault.entries.map(\.account) == ["a", "b", "c", "d", "b"])
    }

    @Test("a per-use entry is replaced only after the check that it currently requires")
    func confirmations() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.totp("a", "b"), presence: .perUse(.any))
        let new = item(try EditedVault.totp("a", "b", key: Self.otherKey))
        let edit = VaultEdit.importing(ImportEdit([new], DuplicateChoices(.replace)))
        let refused = ItemOutcome.refused(.requiresCheckPerUse(entry.name))
        let before = try edited.bytes
        #expect(try outcomes([new], .replace, in: edited) == [refused])
        #expect(try edited.bytes == before)
        // A rehearsal assumes that the check succeeds.
        let rehearsed = try edited.vault.rehearse { changes throws(VaultError) in
            try edit.apply(to: &changes, confirmedBy: .assumed, now: 3)
        }
        #expect(rehearsed == .imported([.replaced(entry.name)], replacedPerUse: [entry.id]))
        #expect(try edited.bytes == before)
        // Another program has changed the check that the entry requires.
        try edited.vault.update { changes throws(VaultError) in
            try changes.setAccessControl(
                of: entry.id,
                to: AccessControl(presence: .perUse(.pam), onFailure: .lockOut))
        }
        let former = Confirmations([entry])
        #expect(try outcomes([new], .replace, in: edited, confirmedBy: former) == [refused])
        let current = Confirmations(edited.vault.entries)
        #expect(
            try outcomes([new], .replace, in: edited, confirmedBy: current)
                == [.replaced(entry.name)])
        guard case .oneTimePassword(let credential) = try edited.content(of: entry.id) else {
            Issue.record("another kind")
            return
        }
        #expect(credential.key == Self.otherKey)
        #expect(edited.vault.entries[0].accessControl.presence == .perUse(.pam))
    }

    @Test(
        "no answer depends on the secret of a per-use entry before its check",
        arguments: DuplicatePolicy.allCases)
    func guesses(policy: DuplicatePolicy) throws {
        let edited = try EditedVault()
        try edited.add(EditedVault.hotp("bank", counter: 7), presence: .perUse(.pam))
        func answers(_ guess: SecretBytes, _ made: Confirmations) throws -> [EditOutcome] {
            let items = try [("bank", 5), ("bank", 6), ("other", 5), ("other", 8)].map {
                item(try EditedVault.hotp($0.0, counter: $0.1, key: guess), note: "n")
            }
            let added = NewEntry(
                try EditedVault.hotp("new", counter: 1, key: guess), details: EntryDetails(),
                accessControl: .standard(for: .hotp))
            let edits =
                (items.map { [$0] } + [items]).map {
                    VaultEdit.importing(ImportEdit($0, DuplicateChoices(policy)))
                } + [.add(added)]
            return try edits.map { edit in
                try edited.vault.rehearse { changes throws(VaultError) in
                    try edit.apply(to: &changes, confirmedBy: made, now: 3)
                }
            }
        }
        for made in [Confirmations(), .assumed] {
            #expect(try answers(EditedVault.key, made) == answers(Self.otherKey, made))
        }
        let checked = Confirmations(edited.vault.entries)
        if policy == .skip {
            let told = try answers(EditedVault.key, checked)
            let bank = EntryName(typed: "bank")
            #expect(
                told[0]
                    == .imported(
                        [.updated(bank, as: bank, [.details], missing: [])], replacedPerUse: []))
            #expect(
                try answers(Self.otherKey, Confirmations())[0]
                    == .imported([.refused(.notCompared(bank))], replacedPerUse: []))
        }
    }

    @Test("a backup's entry keeps its access control, and its time unless it is in the future")
    func origins() throws {
        let edited = try EditedVault()
        let control = AccessControl(presence: .perUse(.passphrase), onFailure: .lockOut)
        for (index, created) in [1, 1000].enumerated() {
            let content = try EditedVault.totp(
                "", "\(index)", key: SecretBytes(text: "key \(index)"))
            let origin = ImportItem.Origin(accessControl: control, created: Int64(created))
            _ = try outcomes(
                [ImportItem(content, details: EntryDetails(), origin: origin)], in: edited)
        }
        // Edits are performed at time 2.
        #expect(edited.vault.entries.map(\.created) == [1, 2])
        #expect(edited.vault.entries.allSatisfy { $0.accessControl == control })
    }
}
