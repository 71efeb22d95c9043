import Devices
import OneTimePassword
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import VaultService

/// The edits and their outcomes, as exchanged between `watchword` and its agent.
struct EditTransferTests {
    @Test("each edit decodes unchanged, and other bytes are refused")
    func edits() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.hotp("a", counter: 1), presence: .perUse(.pam))
        var everything = EntryRevision(of: entry)
        everything.issuer = ""
        everything.account = "x"
        everything.details = DetailsChange(
            added: ["a"], removed: ["b", "b"], note: "", icon: "i", isFavourite: false)
        everything.codes = CodeChange(
            algorithm: .sha512, length: .six, period: .max, counter: .max, secret: EditedVault.key)
        everything.access = AccessControlChange(
            presence: .perUse(.pam), onFailure: .wipe(after: try #require(FailureCount(7))),
            reuse: ReuseTime(60))
        everything.fingers = true
        let choice = BindingChoice(.agent, deviceName: "Mill", tpm: .standard)
        everything.binding = .bind(choice)
        var unbinding = EntryRevision(of: entry)
        unbinding.binding = .unbind
        var edits: [VaultEdit] = [
            .add(
                NewEntry(
                    try EditedVault.totp("é", "b"),
                    details: EntryDetails(tags: ["x"], note: "n", isFavourite: true),
                    accessControl: entry.accessControl, binding: choice, fingers: true)),
            .rename(entry.id, to: EntryName(issuer: "i", account: "a")),
            .remove(entry.id, purge: true),
            .revise(EntryRevision(entry)),
            .revise(everything), .revise(unbinding),
        ]
        var choices = DuplicateChoices(.keep)
        for (name, policy) in zip(["b", "a", "c"], DuplicatePolicy.allCases) {
            choices.choose(policy, for: EntryName(typed: name))
        }
        let origin = ImportItem.Origin(accessControl: entry.accessControl, created: -1)
        let items = [
            ImportItem(try EditedVault.totp("a", "b"), details: EntryDetails(), origin: nil),
            ImportItem(
                try EditedVault.hotp("c", counter: 3), details: EntryDetails(tags: ["t"]),
                origin: origin),
        ]
        edits.append(.importing(ImportEdit(items, choices)))
        try MessageForm.check(edits, of: VaultEdit.Kind.allCases)
    }

    @Test("each outcome decodes unchanged, and other bytes are refused")
    func outcomes() throws {
        let name = EntryName(issuer: "i", account: "a:b")
        let warnings: [CredentialWarning] = [
            .shortKey(bits: 8), .digits(10), .longPeriod(seconds: .max),
        ]
        let refusals: [EditRefusal] = [.nameTaken(name), .noSuchTag(name, tag: "é")]
        let updates: [ImportUpdate] = [.counter(from: 0, to: .max), .pin, .details]
        let itemRefusals: [ItemRefusal] = [
            .nameTaken(name), .requiresCheckPerUse(name), .notCompared(name),
            .boundElsewhere(name),
        ]
        let twin = EntryName(issuer: "", account: "b")
        let items: [ItemOutcome] = [
            .added(name), .replaced(name), .present(name, as: twin, missing: []),
            .updated(name, as: twin, updates, missing: MissingDetail.allCases),
            .declined(name), .refused(.tooLong),
        ]
        let id = try EditedVault().add(EditedVault.totp("a", "b")).id
        let outcomes: [EditOutcome] = [
            .added(twin: nil, bound: nil), .added(twin: name, bound: .tpm),
            .revised(
                name, RevisionWarnings(movesBack: true, credential: warnings), bound: .file),
            .refused(.period), .imported([], replacedPerUse: []),
            .imported(items, replacedPerUse: [id, id]),
        ]
        try MessageForm.check(outcomes, of: EditOutcome.Kind.allCases)
        try MessageForm.check(refusals, of: EditRefusal.Kind.allCases)
        try MessageForm.check(items, of: ItemOutcome.Kind.allCases)
        try MessageForm.check(itemRefusals, of: ItemRefusal.Kind.allCases)
        try MessageForm.check(updates, of: ImportUpdate.Kind.allCases)
        try MessageForm.check(warnings, of: CredentialWarning.Kind.allCases)
    }

    @Test("the choices for an import must be sorted by name, and no name may occur twice")
    func answers() throws {
        let first = try MessageForm.bytes(of: EntryName(typed: "a")) + [0]
        let second = try MessageForm.bytes(of: EntryName(typed: "b")) + [1]
        let sorted: DuplicateChoices? = MessageForm.read([0, 0, 0, 0, 2] + first + second)
        #expect(sorted?.answers.count == 2)
        for answers in [second + first, first + first] {
            let read: DuplicateChoices? = MessageForm.read([0, 0, 0, 0, 2] + answers)
            #expect(read == nil)
        }
    }
}
