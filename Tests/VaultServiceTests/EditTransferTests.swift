import OneTimePassword
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import VaultService

/// The edits and their outcomes as `watchword` and its agent send them to each other.
struct EditTransferTests {
    @Test("each edit is read back as it was, and nothing else is")
    func edits() throws {
        let edited = try EditedVault()
        let entry = try edited.add(EditedVault.hotp("a", counter: 1), presence: .perUse(.pam))
        var edits: [VaultEdit] = [
            .add(
                NewEntry(
                    try EditedVault.totp("é", "b"),
                    details: EntryDetails(tags: ["x"], note: "n", isFavourite: true),
                    accessControl: entry.accessControl)),
            .rename(entry.id, to: EntryName(issuer: "i", account: "a")),
            .remove(entry.id, purge: true),
            .revise(EntryRevision(entry)),
            .revise(
                EntryRevision(
                    of: entry, issuer: "", account: "x",
                    details: DetailsChange(
                        added: ["a"], removed: ["b", "b"], note: "", icon: "i", isFavourite: false),
                    codes: CodeChange(
                        algorithm: .sha512, length: .six, period: .max, counter: .max,
                        secret: EditedVault.key),
                    access: AccessControlChange(
                        presence: .perUse(.pam),
                        onFailure: .wipe(after: try #require(FailureCount(7))),
                        reuse: ReuseTime(60)
                    ))),
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
        var kinds: Set<UInt8> = []
        for edit in edits {
            let bytes = try encoded(edit)
            kinds.insert(bytes[0])
            // An edit has a secret, so only its bytes can be compared.
            #expect(try encoded(parsed(bytes) as VaultEdit) == bytes)
            refusesOthers(VaultEdit.self, bytes)
        }
        #expect(kinds == Set(VaultEdit.Kind.allCases.map(\.rawValue)))
        guard case .revise(let revision) = try parsed(encoded(edits[4])) as VaultEdit else {
            Issue.record("another edit")
            return
        }
        #expect(revision.id == entry.id && revision.kind == .hotp)
        #expect(revision.issuer == "" && revision.account == "x")
        #expect(
            revision.details
                == DetailsChange(
                    added: ["a"], removed: ["b", "b"], note: "", icon: "i", isFavourite: false))
        #expect(revision.codes.algorithm == .sha512 && revision.codes.length == .six)
        #expect(revision.codes.period == .max && revision.codes.counter == .max)
        #expect(revision.codes.secret?.known == EditedVault.key.known)
        #expect(revision.access.presence == .perUse(.pam))
        #expect(revision.access.reuse == ReuseTime(60))
        guard case .importing(let read) = try parsed(encoded(edits[5])) as VaultEdit else {
            Issue.record("another edit")
            return
        }
        #expect(read.choices == choices && read.items.map(\.origin) == [nil, origin])
    }

    @Test("each outcome is read back as it was, and nothing else is")
    func outcomes() throws {
        let name = EntryName(issuer: "i", account: "a:b")
        let warnings: [CredentialWarning] = [
            .shortKey(bits: 8), .digits(10), .longPeriod(seconds: .max),
        ]
        let errors: [CredentialError] = [
            .emptyKey, .spaceAround(.issuer), .spaceAround(.account), .tooLong,
            .parameter(position: 3), .unsupportedLength(-1), .periodOutOfRange,
        ]
        let refusals: [EditRefusal] =
            [.emptyName, .nameTaken(name), .noSuchTag(name, tag: "é"), .period]
            + errors.map(EditRefusal.credential)
        let updates: [ImportUpdate] = [.counter(from: 0, to: .max), .pin, .details]
        let itemRefusals: [ItemRefusal] = [
            .keyRepeatedTooOften, .nameTaken(name), .requiresCheckPerUse(name), .tooLong,
            .notCompared(name),
        ]
        let items: [ItemOutcome] =
            [
                .added(name), .replaced(name), .present(name, as: name, missing: []),
                .updated(name, as: name, updates, missing: MissingDetail.allCases),
                .declined(name),
            ] + itemRefusals.map(ItemOutcome.refused)
        let id = try EditedVault().add(EditedVault.totp("a", "b")).id
        let outcomes: [EditOutcome] =
            [
                .added(twin: nil), .added(twin: name), .renamed, .removed,
                .revised(name, RevisionWarnings(movesBack: true, credential: warnings)),
            ] + refusals.map(EditOutcome.refused)
            + [.imported([], replacedPerUse: []), .imported(items, replacedPerUse: [id, id])]
        try roundTrip(outcomes, of: EditOutcome.Kind.allCases)
        try roundTrip(refusals, of: EditRefusal.Kind.allCases)
        try roundTrip(items, of: ItemOutcome.Kind.allCases)
        try roundTrip(itemRefusals, of: ItemRefusal.Kind.allCases)
        try roundTrip(updates, of: ImportUpdate.Kind.allCases)
        try roundTrip(errors, of: CredentialError.Kind.allCases)
        try roundTrip(warnings, of: CredentialWarning.Kind.allCases)
    }

    @Test("the answers of an import are in order, and none occurs twice")
    func answers() throws {
        let first = try encoded(EntryName(typed: "a")) + [0]
        let second = try encoded(EntryName(typed: "b")) + [1]
        let sorted: DuplicateChoices = try parsed([0, 0, 0, 0, 2] + first + second)
        #expect(sorted.answers.count == 2)
        for answers in [second + first, first + first] {
            #expect(throws: FieldReader.Unreadable()) {
                _ = try parsed([0, 0, 0, 0, 2] + answers) as DuplicateChoices
            }
        }
    }

    private func roundTrip<Value: Transferable & Equatable, Kind: RawRepresentable>(
        _ values: [Value], of kinds: [Kind]
    ) throws where Kind.RawValue == UInt8 {
        for value in values {
            let bytes = try encoded(value)
            #expect(try parsed(bytes) == value)
            refusesOthers(Value.self, bytes)
        }
        // A case that is added is missing here.
        #expect(try Set(values.map { try encoded($0)[0] }) == Set(kinds.map(\.rawValue)))
    }

    private func encoded(_ value: some Transferable) throws -> [UInt8] {
        let writer = try FrameWriter()
        writer.append(value)
        return writer.withContent { [UInt8](copying: $0) }
    }

    private func parsed<Value: Transferable>(
        _ bytes: [UInt8]
    ) throws(FieldReader.Unreadable) -> Value {
        try Value(parsing: bytes.span)
    }

    /// Expects that the type refuses more or fewer bytes than one value.
    private func refusesOthers<Value: Transferable>(_ type: Value.Type, _ bytes: [UInt8]) {
        #expect(throws: FieldReader.Unreadable()) { _ = try parsed(bytes + [0]) as Value }
        for count in bytes.indices {
            let part = Array(bytes.prefix(count))
            #expect(throws: FieldReader.Unreadable()) { _ = try parsed(part) as Value }
        }
    }
}
