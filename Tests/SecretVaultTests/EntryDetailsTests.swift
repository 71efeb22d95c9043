import OneTimePassword
import TestSupport
import Testing

@testable import SecretVault

struct EntryDetailsTests {
    private static let details = EntryDetails(
        tags: ["work", "日本語"], note: "line 1\nline 2", icon: "github", isFavourite: true)

    /// A vault with an entry of each kind, all with details, and their IDs.
    private func filled() throws -> (TestVault, [RecordID]) {
        let vault = try TestVault()
        let contents = try TestVault.contents() + Self.uncomputed.map { .uncomputed($0) }
        let ids = try vault.unlock().update { changes throws(VaultError) in
            try contents.map { content throws(VaultError) in
                try changes.add(content, details: Self.details, now: TestVault.now)
            }
        }
        return (vault, ids)
    }

    private static let uncomputed = [
        UncomputedCode(
            kind: .motp, issuer: "Mobile", account: "otp", secret: secret("00aaBB11"),
            pin: secret("1234")),
        UncomputedCode(
            kind: .yandex, issuer: "Yandex", account: "alice", secret: secret("sixteen bytes of"),
            pin: nil),
    ]

    @Test("codes that are not computed are kept with their secret and PIN")
    func uncomputed() throws {
        let (vault, ids) = try filled()
        let open = try vault.unlock()
        for (id, code) in zip(ids.suffix(2), Self.uncomputed) {
            #expect(Facts(try open.open(id)) == Facts(.uncomputed(code)))
        }
        #expect(open.entries.suffix(2).map(\.kind) == [.motp, .yandex])
        #expect(open.entries.suffix(2).allSatisfy { $0.kind.isUncomputed && $0.style == nil })
        #expect(try open.check().damages.isEmpty)
    }

    @Test("an empty PIN is read as no PIN")
    func emptyPIN() throws {
        let payload = RecordPayload.uncomputed(secret: secret("s"), pin: secret(""))
        let read = try RecordPayload(reading: payload.sealedForm(), kind: .motp)
        guard case .uncomputed(let kept, let pin) = read else {
            Issue.record("another kind")
            return
        }
        #expect(kept.copied == Array("s".utf8) && pin == nil)
    }

    @Test("every change keeps the details of the entries")
    func kept() throws {
        let (vault, ids) = try filled()
        let open = try vault.unlock()
        let contents = try TestVault.contents()
        try open.update { changes throws(VaultError) in
            try changes.replace(ids[0], with: contents[2])
            try changes.rename(ids[2], issuer: "new", account: "")
            try changes.setAccessControl(
                of: ids[4], to: AccessControl(presence: .perUse(.any), onFailure: .lockOut))
            _ = try changes.advanceCounter(of: ids[1])
            try changes.advance(ids[3], to: contents[3])
            try changes.wipe(ids[5], because: .failures, now: 0)
            try changes.rekey()
        }
        #expect(try vault.unlock().entries.map(\.details) == ids.map { _ in Self.details })
        try TombstoneTests.wipe(ids[2], in: vault)
        #expect(try vault.unlock().entries.map(\.details) == ids.map { _ in Self.details })
    }

    @Test("details are replaced without opening the secret, even those of a wiped entry")
    func replaced() throws {
        let (vault, ids) = try filled()
        let other = EntryDetails(tags: ["other"])
        try vault.unlock().update { changes throws(VaultError) in
            try changes.wipe(ids[3], because: .revoked, now: 0)
            try changes.setDetails(of: ids[3], to: other)
            try changes.setDetails(of: ids[0], to: EntryDetails())
        }
        let entries = try vault.unlock().entries
        #expect(entries[3].details == other && entries[0].details == EntryDetails())
        #expect(entries[1].details == Self.details)
    }

    @Test("the limits of details are exact to the byte, and a refused change saves nothing")
    func limits() throws {
        let vault = try TestVault()
        let open = try vault.unlock()
        let content = EntryContent.plainSecret(issuer: "a", account: "", value: secret("x"))
        func text(_ count: Int) -> String { String(repeating: "é", count: count / 2) }
        let longest = EntryDetails(
            tags: (10..<74).map { text(254) + "\($0)" }, note: text(16_384), icon: text(256))
        let id = try open.change { try $0.add(content, details: longest, now: 0) }
        let refused: [(EntryDetails, VaultError)] = [
            (EntryDetails(tags: (0..<65).map { "\($0)" }), .overLimit(.tags)),
            (EntryDetails(tags: [text(256) + "1"]), .overLimit(.tag)),
            (EntryDetails(note: text(16_384) + "1"), .overLimit(.note)),
            (EntryDetails(icon: text(256) + "1"), .overLimit(.icon)),
            (EntryDetails(tags: [""]), .invalidTag), (EntryDetails(tags: [" a"]), .invalidTag),
            (EntryDetails(tags: ["a\u{A0}"]), .invalidTag),
            (EntryDetails(tags: ["a", "b", "a"]), .invalidTag),
        ]
        let before = try vault.bytes()
        for (details, error) in refused {
            #expect(throws: error) {
                try open.change { try $0.add(content, details: details, now: 0) }
            }
            #expect(throws: error) {
                try open.change { try $0.setDetails(of: id, to: details) }
            }
        }
        #expect(try vault.bytes() == before)
        #expect(try vault.unlock().entries.map(\.details) == [longest])
    }

    @Test("tags that look the same but differ in their bytes are both kept, unchanged")
    func composition() throws {
        let vault = try TestVault()
        let tags = ["Wörk", "Wo\u{308}rk", "work", "Work"]
        try vault.unlock().update { changes throws(VaultError) in
            try changes.add(
                .plainSecret(issuer: "a", account: "", value: secret("x")),
                details: EntryDetails(tags: tags), now: 0)
        }
        let kept = try vault.unlock().entries[0].details.tags
        #expect(kept.map { Array($0.utf8) } == tags.map { Array($0.utf8) })
    }
}
