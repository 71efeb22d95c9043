import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@testable import SecretVault
@testable import VaultService

struct VaultEditTests {
    @Test("a name can be added only once, and the outcome reports an entry with the same secret")
    func adding() throws {
        let edited = try EditedVault()
        try edited.add(EditedVault.totp("GitHub", "alice"))
        try edited.add(EditedVault.totp("other", "", key: SecretBytes(text: "another key")))
        let control = AccessControl.standard(for: .totp)
        func added(_ issuer: String, _ account: String) throws -> EditOutcome {
            let entry = NewEntry(
                try EditedVault.totp(issuer, account), details: EntryDetails(),
                accessControl: control)
            return try edited.perform(.add(entry))
        }
        let before = try edited.bytes
        // A person cannot distinguish the two names.
        #expect(
            try added("", "GitHub:alice")
                == .refused(.nameTaken(EntryName(issuer: "", account: "GitHub:alice"))))
        #expect(try edited.bytes == before)
        #expect(
            try added("GitHub", "bob")
                == .added(twin: EntryName(issuer: "GitHub", account: "alice"), bound: nil))
        #expect(edited.vault.entries.map(\.account) == ["alice", "", "bob"])
    }

    @Test("an entry is renamed unless another entry has the name, and may keep its own")
    func renaming() throws {
        let edited = try EditedVault()
        let first = try edited.add(EditedVault.totp("a", "b"))
        try edited.add(EditedVault.totp("c", "d"))
        let before = try edited.bytes
        let taken = EntryName(typed: "c:d")
        #expect(
            try edited.perform(.rename(first.id, to: taken)) == .refused(.nameTaken(taken)))
        #expect(try edited.bytes == before)
        // The same full name, split differently into issuer and account.
        let own = EntryName(issuer: "", account: "a:b")
        #expect(try edited.perform(.rename(first.id, to: own)) == .renamed)
        #expect(edited.vault.entries[0].account == "a:b")
    }

    @Test("an entry can be removed, but not a second time")
    func removing() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.totp("a", "b"))
        #expect(try edited.perform(.remove(entry.id, purge: false)) == .removed)
        #expect(edited.vault.entries.isEmpty)
        #expect(throws: VaultError.noSuchEntry) {
            try edited.perform(.remove(entry.id, purge: true))
        }
    }

    @Test("a damaged entry, whose check cannot be made, is removed without a check")
    func damaged() throws {
        let edited = try EditedVault()
        let entry = try edited.add(
            .plainSecret(issuer: "a", account: "", value: EditedVault.key),
            presence: .perUse(.any))
        #expect(throws: VaultError.presenceNeeded) {
            try edited.perform(.remove(entry.id, purge: false))
        }
        try edited.vault.update { changes throws(VaultError) in
            // This kind of content has no counter.
            try changes.state.change(entry.id) { $0.traits = .hotp(.sha1, .steam) }
            changes.isChanged = true
        }
        #expect(throws: VaultError.damaged(.content(entry.id))) {
            try edited.content(of: entry.id)
        }
        #expect(try edited.perform(.remove(entry.id, purge: false)) == .removed)
    }

    @Test("a tombstone that the manifest does not list permits no change without the entry's check")
    func vanished() throws {
        let edited = try EditedVault()
        try edited.add(EditedVault.totp("a", "b"), presence: .perUse(.pam))
        try edited.forgeTombstone()
        let entry = edited.vault.entries[0]
        #expect(entry.tombstone != nil)
        let before = try edited.bytes
        let changed: [VaultEdit] = [
            .rename(entry.id, to: EntryName(issuer: "c", account: "d")),
            .revise(EntryRevision(entry, account: "x")), .remove(entry.id, purge: false),
            .remove(entry.id, purge: true),
        ]
        for edit in changed {
            #expect(throws: VaultError.presenceNeeded) { try edited.perform(edit) }
        }
        let item = ImportItem(
            try EditedVault.totp("a", "b", key: SecretBytes(text: "another key")),
            details: EntryDetails(), origin: nil)
        let replacing = VaultEdit.importing(ImportEdit([item], DuplicateChoices(.replace)))
        #expect(
            try edited.perform(replacing)
                == .imported([.refused(.requiresCheckPerUse(entry.name))], replacedPerUse: []))
        #expect(try edited.bytes == before)
        for edit in changed.prefix(3) {
            let entry = edited.vault.entries[0]
            _ = try edited.perform(edit, confirmedBy: Confirmations([entry]))
        }
        #expect(edited.vault.entries.isEmpty)
    }

    @Test(
        "a revision keeps the parts that it does not change, even if another program changed them")
    func keeping() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.totp("a", "b"), tags: ["x"])
        _ = try edited.perform(.revise(EntryRevision(entry, issuer: "new")))
        let change = DetailsChange(added: ["y"], removed: ["X"], note: "n")
        let outcome = try edited.perform(.revise(EntryRevision(entry, details: change)))
        #expect(
            outcome
                == .revised(EntryName(issuer: "new", account: "b"), RevisionWarnings(), bound: nil))
        let revised = edited.vault.entries[0]
        #expect(revised.issuer == "new" && revised.account == "b")
        #expect(revised.details == EntryDetails(tags: ["y"], note: "n"))
        #expect(revised.edited.time == 2)
    }

    @Test("a refused revision changes nothing, even where its other changes are valid")
    func refused() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.totp("a", "b"))
        try edited.add(EditedVault.totp("c", "d"))
        let empty = SecretBytes(text: "")
        let refusals: [(EntryRevision, EditRefusal)] = [
            (EntryRevision(entry, issuer: "", account: " : "), .emptyName),
            (
                EntryRevision(entry, issuer: "c", account: "d", presence: .perUse(.any)),
                .nameTaken(EntryName(typed: "c:d"))
            ),
            (
                EntryRevision(
                    entry, issuer: "z", details: DetailsChange(removed: ["no"]),
                    secret: SecretBytes(text: "new key")),
                .noSuchTag(EntryName(typed: "a:b"), tag: "no")
            ),
            (EntryRevision(entry, issuer: "z", secret: empty), .emptyKey),
        ]
        let before = try edited.bytes
        for (revision, refusal) in refusals {
            #expect(try edited.perform(.revise(revision)) == .refused(refusal))
        }
        #expect(try edited.bytes == before)
    }

    @Test("only an explicit counter can be lower than before, and the outcome reports it")
    func counters() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.hotp("a", counter: 9))
        // The counter of a new key begins at 0; entering the same key again keeps it.
        let again = EntryRevision(entry, secret: EditedVault.key)
        guard case .revised(_, let kept, _) = try edited.perform(.revise(again)) else {
            Issue.record("not revised")
            return
        }
        #expect(!kept.movesBack && kept.credential.isEmpty)
        #expect(try edited.counter(of: entry.id) == 9)
        let back = EntryRevision(entry, counter: 3)
        guard case .revised(_, let warnings, _) = try edited.perform(.revise(back)) else {
            Issue.record("not revised")
            return
        }
        #expect(warnings.movesBack)
        #expect(try edited.counter(of: entry.id) == 3)
        let short = EntryRevision(entry, secret: SecretBytes(text: "short"))
        guard case .revised(_, let other, _) = try edited.perform(.revise(short)) else {
            Issue.record("not revised")
            return
        }
        // A different key starts at 0, which repeats no code.
        #expect(!other.movesBack && other.credential == [.shortKey(bits: 40)])
        #expect(try edited.counter(of: entry.id) == 0)
    }

    @Test("a per-use entry changes and is renamed or removed only after the check it now requires")
    func confirmations() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.totp("a", "b"), presence: .perUse(.any))
        let edits: [VaultEdit] = [
            .revise(EntryRevision(entry, secret: SecretBytes(text: "a new key of b"))),
            .revise(EntryRevision(entry, issuer: "c")),
            .rename(entry.id, to: EntryName(typed: "d:e")),
            .revise(EntryRevision(entry, presence: .perUnlock)),
            .remove(entry.id, purge: false), .remove(entry.id, purge: true),
        ]
        let before = try edited.bytes
        for edit in edits {
            #expect(edit.confirmedEntry == entry.id)
            #expect(throws: VaultError.presenceNeeded) { try edited.perform(edit) }
        }
        #expect(try edited.bytes == before)
        // Other changes require no check.
        let tagging = VaultEdit.revise(
            EntryRevision(entry, details: DetailsChange(added: ["t"])))
        #expect(tagging.confirmedEntry == nil)
        _ = try edited.perform(tagging)
        // Another program has since made the check stricter.
        try edited.vault.update { changes throws(VaultError) in
            try changes.setAccessControl(
                of: entry.id,
                to: AccessControl(presence: .perUse(.pam), onFailure: .lockOut))
        }
        for edit in edits {
            #expect(throws: VaultError.presenceNeeded) {
                try edited.perform(edit, confirmedBy: Confirmations([entry]))
            }
        }
        let now = Confirmations(edited.vault.entries)
        for edit in edits[...3] { _ = try edited.perform(edit, confirmedBy: now) }
        #expect(edited.vault.entries[0].name == EntryName(typed: "d:e"))
        #expect(edited.vault.entries[0].accessControl.presence == .perUnlock)
        _ = try edited.perform(edits[4], confirmedBy: now)
        #expect(edited.vault.entries.isEmpty)
    }

    @Test("a wiped entry's content and access control cannot change, but its name can")
    func wiped() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.totp("a", "b"), presence: .perUse(.any))
        try edited.vault.update { changes throws(VaultError) in
            try changes.wipe(entry.id, because: .revoked, now: 1)
        }
        for revision in [
            EntryRevision(entry, secret: EditedVault.key),
            EntryRevision(entry, presence: .perUse(.any)),
        ] {
            #expect(throws: VaultError.wiped) { try edited.perform(.revise(revision)) }
        }
        _ = try edited.perform(.revise(EntryRevision(entry, issuer: "c")))
        #expect(edited.vault.entries[0].issuer == "c")
    }

    @Test("an outcome is accepted only for an edit of its kind with the same number of items")
    func acceptance() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.totp("a", "b"))
        let item = ImportItem(try EditedVault.totp("c", "d"), details: EntryDetails(), origin: nil)
        let edits: [VaultEdit] = [
            .rename(entry.id, to: entry.name), .remove(entry.id, purge: false),
            .revise(EntryRevision(entry)), .importing(ImportEdit([item], DuplicateChoices(.skip))),
        ]
        let outcomes: [EditOutcome] = [
            .renamed, .removed, .revised(entry.name, RevisionWarnings(), bound: nil),
            .imported([.added(entry.name)], replacedPerUse: []),
        ]
        for (index, edit) in edits.enumerated() {
            for (other, outcome) in outcomes.enumerated() {
                #expect(edit.accepts(outcome) == (index == other))
            }
            #expect(!edit.accepts(.added(twin: nil, bound: nil)))
            #expect(!edit.accepts(.imported([], replacedPerUse: [])))
        }
        #expect(edits[0].accepts(.refused(.emptyName)) && !edits[1].accepts(.refused(.emptyName)))
    }

    @Test("a change to the content is refused if the entry's kind has changed since")
    func otherKind() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.totp("a", "b"))
        try edited.vault.update { changes throws(VaultError) in
            try changes.replace(
                entry.id,
                with: .plainSecret(issuer: "a", account: "b", value: SecretBytes(text: "p")))
        }
        #expect(throws: VaultError.otherKind) {
            try edited.perform(.revise(EntryRevision(entry, secret: EditedVault.key)))
        }
    }
}
