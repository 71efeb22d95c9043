import Testing

@testable import SecretVault

struct MergeVerdictTests {
    private typealias Result = MergeVerdict.Result
    private static let now: Int64 = 1000

    private func save(_ id: UInt8, _ generation: UInt64) -> VaultHistory.Save {
        VaultHistory.Save(
            generation: generation, id: SaveID([0, 0, 0, 0, 0, 0, 0, id].span))
    }

    private func history(_ ids: [UInt8]) -> VaultHistory {
        ids.reversed().enumerated().dropFirst().reduce(VaultHistory(save(ids[ids.count - 1], 1))) {
            history, next in
            history.followed(by: save(next.element, UInt64(next.offset) + 1))
        }
    }

    private func edit(_ time: Int64, _ id: UInt8) -> EntryEdit {
        EntryEdit(time: time, save: save(id, 1).id)
    }

    // Our file was saved as 1, 2, 3, and theirs as 1, 12, 13.
    private var histories: MergeHistories {
        MergeHistories(
            ours: history([3, 2, 1]), theirs: history([13, 12, 1]), now: Self.now)
    }

    private func verdict(_ our: EntryEdit?, _ their: EntryEdit?, areEqual: Bool = false) -> Result {
        histories.verdict(our, their, areEqual: areEqual).result
    }

    @Test("an edit takes precedence over the state that it replaced, whatever the clocks show")
    func seen() {
        #expect(verdict(edit(5, 1), edit(5, 1)) == .one(.ours))
        #expect(verdict(edit(1, 3), edit(900, 1)) == .one(.ours))
        #expect(verdict(edit(900, 1), edit(1, 12)) == .one(.theirs))
    }

    @Test("of two independent edits, the newer one wins if the times differ by two seconds")
    func clearTimes() {
        #expect(verdict(edit(500, 2), edit(502, 12)) == .one(.theirs))
        #expect(verdict(edit(502, 2), edit(500, 12)) == .one(.ours))
        #expect(verdict(edit(500, 2), edit(501, 12)) == .both(original: .theirs))
        #expect(verdict(edit(501, 2), edit(500, 12)) == .both(original: .ours))
        #expect(verdict(edit(500, 2), edit(500, 12)) == .both(original: .theirs))
        #expect(verdict(edit(500, 2), edit(500, 12), areEqual: true) == .one(.theirs))
    }

    @Test("a time in the future does not show which edit is newer")
    func future() {
        #expect(verdict(edit(Self.now, 2), edit(500, 12)) == .one(.ours))
        #expect(verdict(edit(Self.now + 1, 2), edit(500, 12)) == .both(original: .ours))
        #expect(verdict(edit(500, 2), edit(Self.now + 1, 12)) == .both(original: .theirs))
    }

    @Test("extreme times in a hostile file are compared without overflow")
    func extremeTimes() {
        #expect(verdict(edit(.min, 2), edit(0, 12)) == .one(.theirs))
        #expect(verdict(edit(500, 2), edit(.min, 12)) == .one(.ours))
        #expect(verdict(edit(.min, 2), edit(.max, 12)) == .both(original: .theirs))
    }

    @Test("an entry on one side was removed if the other side had seen its last edit")
    func oneSided() {
        #expect(verdict(edit(500, 1), nil) == .removed)
        #expect(verdict(edit(500, 2), nil) == .one(.ours))
        #expect(verdict(nil, edit(500, 1)) == .removed)
        #expect(verdict(nil, edit(500, 12)) == .one(.theirs))
    }

    @Test("a verdict is independent only if neither side had seen the other's edit")
    func independent() {
        let cases: [(EntryEdit?, EntryEdit?, Bool)] = [
            (edit(5, 1), edit(5, 1), false), (edit(5, 2), edit(5, 1), false),
            (edit(5, 2), edit(50, 12), true), (edit(5, 2), edit(5, 12), true),
            (edit(5, 2), nil, false),
        ]
        for (our, their, expected) in cases {
            let verdict = histories.verdict(our, their, areEqual: false)
            #expect(verdict.isIndependent == expected)
        }
    }

    @Test("exchanging the two sides exchanges them in the verdict")
    func symmetrical() {
        let mirrored = MergeHistories(
            ours: history([13, 12, 1]), theirs: history([3, 2, 1]), now: Self.now)
        let times: [Int64] = [1, 500, 501, 503, Self.now, Self.now + 5]
        for (first, second) in times.flatMap({ first in times.map { (first, $0) } }) {
            for (our, their) in [(1, 12), (2, 1), (2, 12), (3, 13)] as [(UInt8, UInt8)] {
                let verdict = histories.verdict(
                    edit(first, our), edit(second, their), areEqual: false)
                let other = mirrored.verdict(edit(second, their), edit(first, our), areEqual: false)
                #expect(verdict.isIndependent == other.isIndependent)
                switch (verdict.result, other.result) {
                case (.one(let side), .one(let opposite)): #expect(side == opposite.other)
                case (.both(let side), .both(let opposite)): #expect(side == opposite.other)
                default: Issue.record("\(verdict) and \(other)")
                }
            }
        }
    }
}

extension MergeVerdict.Side {
    fileprivate var other: Self { self == .ours ? .theirs : .ours }
}
