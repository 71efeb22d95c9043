import Testing
import WatchwordCryptography

@testable import SecretVault

/// Random pairs of copies that were edited independently.
struct MergePropertyTests {
    private struct Pair {
        let ours: MergeModel
        let theirs: MergeModel

        init(seed: UInt64) throws {
            var ours = MergeModel(seed: seed)
            try ours.change(6)
            var theirs = ours.forked()
            try ours.change(Int(seed % 7))
            try theirs.change(Int(seed / 7 % 7))
            if seed.isMultiple(of: 3) {
                // One of the two has already merged the other once.
                try ours.merge(theirs)
                try ours.change(Int(seed % 5))
                try theirs.change(Int(seed / 5 % 5))
            }
            self.ours = ours
            self.theirs = theirs
        }

        /// Whether an entry was wiped on one side, and may have a newer key on the other side.
        ///
        /// Until the owner decides, each side keeps its own.
        func isDisputed() throws -> Bool {
            try !ours.unmerged(theirs).isEmpty || !theirs.unmerged(ours).isEmpty
        }
    }

    private static let seeds: [UInt64] = (0..<400 as Range<UInt64>).filter { seed in
        do { return try !Pair(seed: seed).isDisputed() } catch { return true }
    }

    @Test("merging in either direction gives the same content")
    func commutative() throws {
        for seed in Self.seeds {
            let pair = try Pair(seed: seed)
            let here = try pair.ours.merged(pair.theirs).contents()
            let there = try pair.theirs.merged(pair.ours).contents()
            #expect(here == there, "seed \(seed)")
        }
    }

    @Test("merging again changes nothing, and both merged copies have the same content")
    func idempotent() throws {
        for seed in Self.seeds {
            let pair = try Pair(seed: seed)
            var here = try pair.ours.merged(pair.theirs)
            let there = try pair.theirs.merged(pair.ours)
            let contents = try here.contents()
            for side in [pair.theirs, pair.ours] {
                let isSaved = try here.merge(side)
                #expect(!isSaved, "seed \(seed)")
            }
            try here.merge(there)
            #expect(try here.contents() == contents, "seed \(seed)")
            #expect(try there.merged(here).contents() == contents, "seed \(seed)")
        }
    }

    @Test("no entry is lost, unless it was removed by a side that had seen its last edit")
    func complete() throws {
        var removals = 0
        for seed in Self.seeds {
            let pair = try Pair(seed: seed)
            let merged = try pair.ours.merged(pair.theirs).entries()
            for (side, other) in [(pair.ours, pair.theirs), (pair.theirs, pair.ours)] {
                let others = try other.entries()
                for (id, entry) in try side.entries() where merged[id] == nil {
                    let save = entry.properties.edited.save
                    let isSeen = other.state.history.saves.contains { $0.id == save }
                    #expect(others[id] == nil && isSeen, "seed \(seed)")
                    removals += 1
                }
            }
        }
        #expect(removals > 20)
    }

    @Test("a merge never rolls back a counter, an enrolled secret or a wipe")
    func forward() throws {
        var (wiped, counters, enrolled) = (0, 0, 0)
        for seed in Self.seeds {
            let pair = try Pair(seed: seed)
            let merged = try pair.ours.merged(pair.theirs).entries()
            for side in [pair.ours, pair.theirs] {
                for (id, entry) in try side.entries() {
                    guard let result = merged[id] else { continue }
                    if entry.isWiped {
                        #expect(result.isWiped, "seed \(seed)")
                        wiped += 1
                    }
                    switch (entry.payload, result.payload) {
                    case (.hotp(let own, let key, _), .hotp(let counter, let other, _))
                    where key == other:
                        #expect(counter >= own, "seed \(seed)")
                        counters += 1
                    case (.bytes(let own), .bytes(let value))
                    where entry.isEnrolled && result.isEnrolled:
                        #expect(MergeModel.order(value, own) != .second, "seed \(seed)")
                        enrolled += 1
                    default: break
                    }
                }
            }
        }
        #expect(min(wiped, counters, enrolled) > 50)
    }

    @Test("if both sides changed the access control, the stricter one is kept")
    func strict() throws {
        for seed in Self.seeds {
            let pair = try Pair(seed: seed)
            let (ours, theirs) = (try pair.ours.entries(), try pair.theirs.entries())
            let histories = MergeHistories(
                ours: pair.ours.state.history, theirs: pair.theirs.state.history,
                now: MergeModel.now)
            let merged = try pair.ours.merged(pair.theirs).entries()
            for (id, our) in ours {
                guard let their = theirs[id], let result = merged[id], !result.isWiped,
                    histories.verdict(
                        our.properties.edited, their.properties.edited, areEqual: false
                    ).isIndependent
                else { continue }
                let isStrict = [our, their].contains { $0.access.presence.isPerUse }
                #expect(result.access.presence.isPerUse == isStrict, "seed \(seed)")
            }
        }
    }
}
