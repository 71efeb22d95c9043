import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Commands
@testable import SecretVault

struct LiveListTests {
    private func list(_ count: Int, alwaysFilters: Bool = true) -> LiveList {
        LiveList((0..<count).map(entry), alwaysFilters: alwaysFilters)
    }

    private func entry(_ number: Int) -> EntrySummary {
        let save = SaveID([UInt8](repeating: 0, count: 8).span)
        let content = EntryContent.plainSecret(
            issuer: number.isMultiple(of: 2) ? "Even" : "Odd", account: "a\(number)",
            value: SecretBytes(copying: [UInt8]().span))
        return EntrySummary(
            id: RecordID([UInt8](repeating: UInt8(number), count: 16).span),
            accessControl: .standard(for: content.kind), tombstone: nil,
            properties: EntryProperties(
                of: content, details: EntryDetails(tags: ["tag\(number)"], note: ""), created: 0,
                edited: EntryEdit(time: 0, save: save)))
    }

    private func type(_ text: String, into list: inout LiveList) -> [LiveList.Action] {
        text.map { list.press(.character($0)) }
    }

    @Test("typing filters by the words of names and tags, and Backspace removes the last character")
    func filter() {
        var list = list(6)
        #expect(type("EVEN 4", into: &list).allSatisfy { $0 == .none })
        #expect(list.shown == [4])
        #expect(list.selection == 4)
        #expect(list.press(.backspace) == .none)
        #expect(list.shown == [0, 2, 4])
        // The selected entry stays selected.
        #expect(list.selection == 4)
        #expect(list.press(.control("u")) == .none)
        #expect(list.shown == Array(0..<6))
        _ = type("tag3", into: &list)
        #expect(list.shown == [3])
        _ = type("x", into: &list)
        #expect(list.selection == nil)
        #expect(list.press(.down) == .none)
        #expect(list.selection == nil)
    }

    @Test("the selection stays within the list, and on the screen")
    func moving() {
        var list = list(20)
        list.fit(room: 5)
        #expect(list.press(.up) == .none)
        #expect(list.selection == 0)
        _ = list.press(.pageDown)
        list.fit(room: 5)
        #expect((list.selected, list.top) == (5, 1))
        _ = list.press(.end)
        list.fit(room: 5)
        #expect((list.selected, list.top) == (19, 15))
        _ = list.press(.down)
        #expect(list.selection == 19)
        _ = list.press(.pageUp)
        list.fit(room: 5)
        #expect((list.selected, list.top) == (14, 14))
        // A larger window shows more entries.
        list.fit(room: 30)
        #expect(list.top == 0)
        _ = list.press(.home)
        #expect(list.selection == 0)
    }

    @Test("Escape leaves at once where typing always filters, and Ctrl-U clears the filter")
    func escape() {
        var list = list(3)
        _ = type("odd", into: &list)
        #expect(list.press(.escape) == .leave)
        #expect(list.shown.count < 3)
        #expect(list.press(.control("u")) == .none)
        #expect(list.shown.count == 3)
        #expect(list.press(.escape) == .leave)
        #expect(list.press(.enter) == .choose)
        #expect(list.press(.control("p")) == .other(.control("p")))
    }

    @Test("a list that filters only after / lets the command handle other letters")
    func slash() {
        var list = list(4, alwaysFilters: false)
        #expect(list.press(.character("q")) == .other(.character("q")))
        #expect(type("jj k", into: &list).allSatisfy { $0 == .none })
        #expect(list.selection == 2)
        #expect(list.press(.character("/")) == .none)
        #expect(type("odd", into: &list).allSatisfy { $0 == .none })
        #expect(list.shown == [1, 3])
        #expect(list.press(.escape) == .none)
        #expect(list.shown.count == 4)
        #expect(!list.isFiltering)
        #expect(list.press(.escape) == .leave)
    }

    @Test(
        "a time is a number with a unit, or 0",
        arguments: [
            ("90s", 90), ("15m", 900), ("8h", 28_800), ("0", 0), ("168h", 604_800),
        ])
    func times(_ text: String, _ seconds: Int) {
        #expect(TimeLimit(parsing: text)?.duration == .seconds(seconds))
    }

    @Test(
        "a time in any other form is refused",
        arguments: ["", "m", "15", "-1m", "+1m", "1.5h", "1d", "169h", "99999999999999999999h"])
    func otherTimes(_ text: String) {
        #expect(TimeLimit(parsing: text) == nil)
    }
}
