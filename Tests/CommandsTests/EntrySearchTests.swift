import TestSupport
import Testing
import WatchwordCryptography

@testable import Commands
@testable import SecretVault
@testable import VaultService

struct EntrySearchTests {
    /// An entry with an ID that begins with these bytes.
    private func entry(
        _ issuer: String, _ account: String, id start: [UInt8] = [], tags: [String] = [],
        note: String = ""
    ) throws -> EntrySummary {
        let id = RecordID((start + [UInt8](repeating: 0, count: 16 - start.count)).span)
        let save = SaveID([UInt8](repeating: 0, count: 8).span)
        let content = EntryContent.plainSecret(
            issuer: issuer, account: account, value: SecretBytes(copying: [UInt8]().span))
        return EntrySummary(
            id: id, accessControl: .standard(for: content.kind), tombstone: nil,
            properties: EntryProperties(
                of: content, details: EntryDetails(tags: tags, note: note), created: 0,
                edited: EntryEdit(time: 0, save: save)))
    }

    @Test(
        "texts that differ only in case, accents or composition count as equal",
        arguments: [
            ("GitHub", "GITHUB"), ("Café", "cafe"), ("Cafe\u{301}", "CAFÉ"), ("Straße", "STRASSE"),
            ("Łódź", "lodz"), ("Ærø", "aero"), ("ΟΔΟΣ", "οδος"), ("İstanbul", "istanbul"),
            ("Việt", "viet"), ("ЙОД", "йод"),
        ])
    func folded(_ one: String, _ other: String) {
        #expect(FoldedText(one) == FoldedText(other))
    }

    @Test("a text that consists only of accents does not match every text")
    func accents() {
        #expect(FoldedText("\u{301}") != FoldedText(""))
        #expect(!FoldedText("abc").contains(FoldedWord("\u{301}")))
        #expect(FoldedText("abc").contains(FoldedWord("C")))
        #expect(!FoldedText("abc").contains(FoldedWord("abcd")))
    }

    @Test("words match in any order, in the name, a tag or the note")
    func words() throws {
        let entry = try entry("GitHub", "Zoë", tags: ["day off"], note: "gate 7")
        for typed in ["github zoe", "zoe GITHUB", "hub:z", "off", "gate github", "7 day zoe"] {
            #expect(EntrySearch(typed).matches(entry), "\(typed)")
        }
        for typed in ["github bob", "githubzoe", "gate 8"] {
            #expect(!EntrySearch(typed).matches(entry), "\(typed)")
        }
        #expect(!EntrySearch("gate").matchesName(of: entry))
    }

    @Test("the best match wins: a name, an account, a name in a different case, words, a note")
    func best() throws {
        let entries = [
            try entry("", "alice", id: [1]), try entry("Bank", "alice", id: [2]),
            try entry("Bank", "alice2", id: [3]), try entry("Shop", "bob", id: [4], note: "carol"),
            try entry("Mail", "carol", id: [5]),
        ]
        let found: [(String, UInt8)] = [
            ("alice", 1), ("Bank:alice", 2), ("bank:ALICE", 2), ("ALICE2", 3), ("carol", 5),
            ("Carol", 5), ("alice2 bank", 3), ("0400000000", 4),
        ]
        for (typed, first) in found {
            #expect(try entries.one(named: typed).id.bytes[0] == first, "\(typed)")
        }
        #expect(throws: CommandFailure.self) { try entries.one(named: "bank") }
        #expect(throws: CommandFailure.self) { try entries.one(named: "nobody") }
        #expect(throws: CommandFailure.self) { try entries.one(named: "\u{301}") }
    }

    @Test(
        "if no person is asked, only a whole name, issuer, account or id selects the entry")
    func whole() throws {
        let entries = [
            try entry("Bank", "me", id: [1], tags: ["shop"], note: "phone of the mill account"),
            try entry("GitHub", "alice-work", id: [2]),
        ]
        for typed in ["mill", "phone", "shop", "GitHub:alice", "alice", "work github", "git"] {
            #expect(throws: CommandFailure.self) {
                try entries.one(toChange: typed, asks: false)
            }
            _ = try entries.one(toChange: typed, asks: true)
        }
        for typed in ["Bank:me", "bank:ME", "bank", "me", "0100000000"] {
            #expect(try entries.one(toChange: typed, asks: false).issuer == "Bank", "\(typed)")
        }
    }

    @Test("a short id has eight characters, or more if two ids share the first eight")
    func shortIDs() throws {
        let entries = [
            try entry("a", "", id: [1]), try entry("b", "", id: [2, 0, 0, 0, 0, 0x10]),
            try entry("c", "", id: [2, 0, 0, 0, 0, 0x11]),
        ]
        let ids = ShortIDs(entries)
        #expect(entries.map { ids[$0.id] } == ["01000000", "020000000010", "020000000011"])
        for entry in entries { #expect(try entries.one(named: ids[entry.id]).id == entry.id) }
    }

    @Test("entries are sorted by issuer and account, or by account if there is no issuer")
    func sorted() throws {
        let entries = [
            try entry("zoo", "b"), try entry("Zoo", "A"), try entry("", "Middle"),
            try entry("Éclair", "x"), try entry("eclair", "a"), try entry("éclair", "X"),
        ]
        #expect(
            entries.sorted(by: .name).map(\.name.text)
                == ["eclair:a", "Éclair:x", "éclair:X", "Middle", "Zoo:A", "zoo:b"])
        #expect(entries.sorted(by: .added).map(\.name.text) == entries.map(\.name.text))
    }

    @Test("numbers in names are sorted by their values, regardless of case and accents")
    func natural() throws {
        let names = [
            "Käse 10", "kase 2", "KÄSE 1", "kase 02", "kase", "kase 2b", "a10b3", "A10b20",
        ]
        let entries = try names.map { try entry("", $0) }
        #expect(
            entries.sorted(by: .name).map(\.account)
                == ["a10b3", "A10b20", "kase", "KÄSE 1", "kase 02", "kase 2", "kase 2b", "Käse 10"])
        // Numbers of any length can be compared.
        let digits = String(repeating: "9", count: 40)
        #expect(FoldedText("1" + digits) < FoldedText("2" + digits))
        #expect(FoldedText(digits) < FoldedText("1" + digits))
        #expect(FoldedText("7") < FoldedText("a"))
        #expect(!(FoldedText("a1") < FoldedText("A1")))
    }

    @Test("tags match regardless of case and accents, and an entry must have all of those given")
    func tagged() throws {
        let entries = [
            try entry("a", "", tags: ["Wörk", "home"]), try entry("b", "", tags: ["home"]),
        ]
        #expect(entries.tagged(["work"]).map(\.issuer) == ["a"])
        #expect(entries.tagged(["HOME"]).map(\.issuer) == ["a", "b"])
        #expect(entries.tagged(["home", "work"]).map(\.issuer) == ["a"])
        #expect(entries.tagged(["wor"]).isEmpty && entries.tagged([]).count == 2)
    }

    @Test("the lines of a list fit on the terminal, and a truncated name is followed by its id")
    func table() throws {
        let entries = [
            try entry(String(repeating: "long ", count: 20) + "one", "a", id: [1]),
            try entry(String(repeating: "long ", count: 20) + "two", "a", id: [2]),
            try entry("short", "b", id: [3], tags: ["a tag", "another tag that is long"]),
        ]
        for columns in [40, 60, 80, 200] {
            let lines = EntryTable(entries, of: entries, columns: columns).lines
            #expect(lines.allSatisfy { $0.columns <= columns }, "\(lines)")
            #expect(Set(lines).count == 3)
            #expect(lines[2].hasPrefix("short:b  "))
        }
        let narrow = EntryTable(entries, of: entries, columns: 60).lines
        #expect(narrow[0].contains("…") && narrow[0].hasSuffix("id 01000000"))
        let whole = EntryTable(entries, of: entries, columns: nil).lines
        #expect(whole[2].hasSuffix("[a tag, another tag that is long]"))
    }
}
