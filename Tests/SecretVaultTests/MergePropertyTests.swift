import Testing
import WatchwordCryptography

@testable import SecretVault

/// Random pairs of copies that were edited independently.
struct MergePropertyTests {
    /// The copies that have the key of the device to which entries are bound.
    enum Place: CaseIterable {
        /// No entry is bound.
        case unbound
        /// Both copies have the key.
        case home
        /// Neither copy has the key; the third copy, from which both come, has it.
        case elsewhere
        /// Only our copy has the key.
        case between
    }

    private struct Pair {
        let ours: MergeModel
        let theirs: MergeModel
        /// The vault at home, which has the device's key.
        let home: MergeModel

        init(seed: UInt64, at place: Place = .unbound) throws {
            var ours = try MergeModel(seed: seed, device: place == .unbound ? nil : testDevice())
            try ours.change(6)
            if place == .elsewhere {
                var other = ours.forked()
                try ours.change(Int(seed % 4))
                // In some cases, both come from the same vault at home. In others, an older copy
                // was restored there, and has sealed further secrets.
                if seed.isMultiple(of: 2) { other = ours.forked() }
                try other.change(Int(seed % 6))
                home = ours
                let copies = (ours.elsewhere(), other.elsewhere())
                (self.ours, theirs) = try Pair.changed(copies.0, copies.1, seed)
            } else {
                let copy = place == .between ? ours.elsewhere() : ours.forked()
                (self.ours, theirs) = try Pair.changed(ours, copy, seed)
                home = ours
            }
        }

        private static func changed(
            _ ours: MergeModel, _ theirs: MergeModel, _ seed: UInt64
        ) throws -> (MergeModel, MergeModel) {
            var (ours, theirs) = (ours, theirs)
            try ours.change(Int(seed % 7))
            try theirs.change(Int(seed / 7 % 7))
            if seed.isMultiple(of: 3) {
                // One of the two copies has already merged the other one.
                try ours.merge(theirs)
                try ours.change(Int(seed % 5))
                try theirs.change(Int(seed / 5 % 5))
            }
            return (ours, theirs)
        }

        /// Whether an entry waits for its owner or its device, so that each side keeps its own
        /// copy.
        func isDisputed() throws -> Bool {
            try !ours.unmerged(theirs).isEmpty || !theirs.unmerged(ours).isEmpty
        }
    }

    private static let count: UInt64 = 400

    private static func seeds(at place: Place = .unbound) -> [UInt64] {
        (0..<count).filter { seed in
            do { return try !Pair(seed: seed, at: place).isDisputed() } catch { return true }
        }
    }

    /// The cases in which both sides can open the same entries.
    private static let even: [Place] = [.unbound, .home, .elsewhere]

    @Test("merging in either direction gives the same content", arguments: even)
    func commutative(at place: Place) throws {
        let seeds = Self.seeds(at: place)
        #expect(seeds.count > 100)
        for seed in seeds {
            let pair = try Pair(seed: seed, at: place)
            let here = try pair.ours.merged(pair.theirs).contents()
            let there = try pair.theirs.merged(pair.ours).contents()
            #expect(here == there, "seed \(seed)")
        }
    }

    @Test(
        "merging again changes nothing, and both merged copies have the same content",
        arguments: even)
    func idempotent(at place: Place) throws {
        for seed in Self.seeds(at: place) {
            let pair = try Pair(seed: seed, at: place)
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

    @Test(
        "no entry is lost, unless it was removed by a side that had seen its last edit",
        arguments: Place.allCases)
    func complete(at place: Place) throws {
        var removals = 0
        for seed in Self.seeds(at: place) {
            let pair = try Pair(seed: seed, at: place)
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

    @Test(
        "a merge never rolls back a counter, an enrolled secret or a wipe",
        arguments: Place.allCases)
    func forward(at place: Place) throws {
        var (wiped, counters, enrolled) = (0, 0, 0)
        for seed in Self.seeds(at: place) {
            let pair = try Pair(seed: seed, at: place)
            let merged = try pair.theirs.merged(pair.ours).seen(on: pair.home).entries()
            for side in [pair.ours, pair.theirs] {
                for (id, entry) in try side.seen(on: pair.home).entries() {
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
        #expect(min(wiped, counters, enrolled) > 20)
    }

    @Test(
        "if both sides changed the access control, the stricter one is kept",
        arguments: [Place.unbound, .home])
    func strict(at place: Place) throws {
        for seed in Self.seeds(at: place) {
            let pair = try Pair(seed: seed, at: place)
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

    @Test("if one copy of an entry is bound, and a merge on its device keeps both, both are bound")
    func bound() throws {
        var count = 0
        for seed in 0..<Self.count {
            let pair = try Pair(seed: seed, at: .home)
            let (ours, theirs) = (try pair.ours.entries(), try pair.theirs.entries())
            let merged = try pair.ours.merged(pair.theirs).entries()
            for (id, our) in ours {
                guard let their = theirs[id], (our.device == nil) != (their.device == nil)
                else { continue }
                for loser in [our, their] {
                    let second = loser.second(edited: loser.properties.edited).id
                    guard ours[second] == nil, theirs[second] == nil, let copy = merged[second]
                    else { continue }
                    #expect(copy.device != nil && merged[id]?.device != nil, "seed \(seed)")
                    count += 1
                }
            }
        }
        #expect(count > 5)
    }

    @Test("both sides leave the same entries to the device or the owner")
    func left() throws {
        var count = 0
        for seed in 0..<Self.count {
            let pair = try Pair(seed: seed, at: .elsewhere)
            let (here, there) = (
                try pair.ours.attempted(pair.theirs), try pair.theirs.attempted(pair.ours)
            )
            for (ours, theirs) in [
                (here.leftToHome, there.leftToHome), (here.leftToOwner, there.leftToOwner),
            ] {
                #expect(Set(ours.map(\.id)) == Set(theirs.map(\.id)), "seed \(seed)")
                count += ours.count
            }
            // Entries that are left to the device or the owner do not change.
            let merged = try pair.ours.merged(pair.theirs).entries()
            let former = try pair.ours.entries()
            for id in here.leftToHome.map(\.id) {
                let (left, old) = (try #require(merged[id]), try #require(former[id]))
                #expect(try left.line == old.line && left.hasPayload(of: old), "seed \(seed)")
            }
        }
        #expect(count > 10)
    }

    @Test("once the device has merged a copy, the copy adopts everything from the device")
    func following() throws {
        for seed in 0..<Self.count {
            let pair = try Pair(seed: seed, at: .between)
            for first in [pair.theirs, try pair.theirs.merged(pair.ours)] {
                let home = try pair.ours.merged(first)
                // A wipe that needs the owner's decision stays undecided.
                guard try pair.ours.unmerged(first).isEmpty else { continue }
                #expect(try first.unmerged(home).isEmpty, "seed \(seed)")
                let copy = try first.merged(home).seen(on: home)
                #expect(try copy.contents() == home.contents(), "seed \(seed)")
            }
        }
    }

    @Test(
        "no key is lost unless it was replaced, whichever side merges",
        arguments: [Place.home, .elsewhere, .between], [false, true])
    func kept(at place: Place, reversed: Bool) throws {
        var (kept, dropped) = (0, 0)
        for seed in 0..<Self.count {
            let pair = try Pair(seed: seed, at: place)
            let (into, from) =
                reversed ? (pair.theirs, pair.ours) : (pair.ours, pair.theirs)
            let left = Set(try into.unmerged(from).map(\.id))
            let merged = try into.merged(from).seen(on: pair.home).entries()
            let secrets = Set(merged.values.compactMap(\.payload?.identity.copied))
            let replaced = into.replaced.union(from.replaced)
            for side in [into, from] {
                for (id, entry) in try side.seen(on: pair.home).entries()
                where !left.contains(id) && !entry.isEnrolled {
                    guard let secret = entry.payload?.identity.copied,
                        merged[id]?.isWiped == false
                    else { continue }
                    let isKept = secrets.contains(secret)
                    #expect(isKept || replaced.contains(secret), "seed \(seed)")
                    if isKept { kept += 1 } else { dropped += 1 }
                }
            }
        }
        #expect(min(kept, dropped) > 20)
    }
}
