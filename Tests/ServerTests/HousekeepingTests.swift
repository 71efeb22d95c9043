import LocalSockets
import StoreContract
import Synchronization
import TestSupport
import Testing
import Verification

@testable import CommandLineInterface
@testable import ServerCommands

/// Which rows the server deletes automatically, and which clock it trusts.
struct HousekeepingTests {
    private static let day: Int64 = 86_400
    private static let lifetime = 400 * day * 1_000

    /// A store with an event per day, the housekeeping, and a clock and a log for the test.
    private final class House: Sendable {
        let store = MemoryStore(
            node: sampleBytes(1, count: 16), key: StoreKeys.known.auditKey)
        private let clock = Mutex<(now: UnixTime, complaint: String?)>((.at(0), nil))
        private let lines = Mutex<[String]>([])

        /// Sets the clock and the state that the kernel reports.
        func set(day: Int64, hours: Int64 = 0, complaint: String? = nil) {
            let seconds = day * HousekeepingTests.day + hours * 3_600
            clock.withLock { $0 = (.at(seconds), complaint) }
        }

        func housekeeper(keepingEventsFor lifetime: Int64?) -> Housekeeping {
            Housekeeping(
                store: store, key: StoreKeys.known.auditKey, eventLifetime: lifetime,
                now: { self.clock.withLock { $0.now } },
                complaint: { _ in self.clock.withLock { $0.complaint } },
                say: { event, facts in
                    let words = [event] + facts.map(\.1)
                    self.lines.withLock { $0.append(words.joined(separator: " ")) }
                })
        }

        var said: [String] { lines.withLock { $0 } }

        func happen(on days: Range<Int64>) async {
            for day in days {
                _ = await store.commit([
                    .appendEvent(.sample(Int(day), at: day * HousekeepingTests.day))
                ])
            }
        }

        /// The days of the events in the store.
        func days() async -> [Int64] {
            await store.events(after: 0, limit: 10_000).compactMap { $0.event?.number }
        }
    }

    @Test("a realm without users is reported once if another realm has users")
    func renamed() async throws {
        let house = House()
        var housekeeper = house.housekeeper(keepingEventsFor: nil)
        for (realm, isReported) in [("new", false), ("old", false), ("new", true)] {
            housekeeper.realm = Realm(realm)
            await housekeeper.tidy()
            await housekeeper.tidy()
            #expect(house.said.count == (isReported ? 1 : 0))
            _ = await house.store.commit([
                .insertCredential(.sample(1, subject: "unix:old:ann"))
            ])
        }
        #expect(
            try #require(house.said.first).hasPrefix(
                "realm-without-users no account of the realm new"))
    }

    @Test("expired challenges are deleted after a minute, even if nothing confirms the clock")
    func challenges() async {
        for complaint in [nil, "clock-not-synchronised"] {
            let house = House()
            for (number, seconds) in [(1, -61), (2, -60), (3, -59), (4, 1)] as [(Int, Int64)] {
                let row = ChallengeRow(
                    digest: sampleBytes(number, count: 32), purpose: .assertion, subject: nil,
                    credential: nil, body: [1], createdAt: .at(0),
                    expiresAt: .at(10 * 3_600 + seconds))
                _ = await house.store.commit([.insertChallenge(row)])
            }
            house.set(day: 0, hours: 10, complaint: complaint)
            var housekeeper = house.housekeeper(keepingEventsFor: nil)
            await housekeeper.tidy()
            var left: [Int] = []
            for number in 1...4 {
                let digest = sampleBytes(number, count: 32)
                if await house.store.challenge(digest: digest) != nil { left.append(number) }
            }
            #expect(left == [3, 4])
        }
    }

    @Test("events are deleted after the retention period, or never if there is none")
    func lifetimes() async {
        for (lifetime, first) in [(Self.lifetime, 100), (30 * Self.day * 1_000, 470), (nil, 0)]
            as [(Int64?, Int64)]
        {
            let house = House()
            await house.happen(on: 0..<500)
            house.set(day: 500)
            var housekeeper = house.housekeeper(keepingEventsFor: lifetime)
            await housekeeper.tidy()
            #expect(await house.days() == Array(first..<500))
            #expect(house.said == [])
        }
    }

    @Test("a forward jump of the clock deletes no events, even if new events have the wrong time")
    func leapt() async {
        let house = House()
        await house.happen(on: 0..<420)
        var housekeeper = house.housekeeper(keepingEventsFor: Self.lifetime)
        for ahead: Int64 in [30, 365, 3_650, 100_000] {
            house.set(day: 420 + ahead)
            await housekeeper.tidy()
            #expect(await house.days() == Array(0..<420))
        }
        // The cause is logged only once, not every minute.
        #expect(house.said == ["events-kept clock-not-borne-out"])
        await house.happen(on: 4_069..<4_071)
        house.set(day: 4_070)
        await housekeeper.tidy()
        // A different server, or the same server after a restart, reaches the same conclusion.
        var another = house.housekeeper(keepingEventsFor: Self.lifetime)
        await another.tidy()
        #expect(await house.days() == Array(0..<420) + [4_069, 4_070])
        #expect(house.said.count == 2)
    }

    @Test("after the clock is corrected, old events are deleted, and another jump is logged")
    func rightAgain() async {
        let house = House()
        await house.happen(on: 0..<420)
        var housekeeper = house.housekeeper(keepingEventsFor: Self.lifetime)
        house.set(day: 5_000)
        await housekeeper.tidy()
        house.set(day: 420)
        await housekeeper.tidy()
        #expect(await house.days() == Array(20..<420))
        house.set(day: 5_000)
        await housekeeper.tidy()
        #expect(await house.days() == Array(20..<420))
        #expect(house.said == Array(repeating: "events-kept clock-not-borne-out", count: 2))
    }

    @Test("while the kernel does not trust the clock, no events are deleted")
    func untrusted() async {
        let house = House()
        await house.happen(on: 0..<420)
        var housekeeper = house.housekeeper(keepingEventsFor: Self.lifetime)
        house.set(day: 420, complaint: "clock-unsynchronized")
        await housekeeper.tidy()
        await housekeeper.tidy()
        #expect(await house.days() == Array(0..<420))
        #expect(house.said == ["events-kept clock-unsynchronized"])
        house.set(day: 420)
        await housekeeper.tidy()
        #expect(await house.days() == Array(20..<420))
    }

    @Test("after a long idle period, old events stay until a new event is a week old")
    func silence() async {
        let house = House()
        await house.happen(on: 0..<10)
        await house.happen(on: 600..<607)
        var housekeeper = house.housekeeper(keepingEventsFor: Self.lifetime)
        house.set(day: 606)
        await housekeeper.tidy()
        #expect(await house.days().first == 0)
        house.set(day: 607)
        await housekeeper.tidy()
        #expect(await house.days() == Array(600..<607))
    }

    @Test("O-07 expired short-lived rows stay until an event confirms the clock")
    func lapsing() async {
        let house = House()
        _ = await house.store.commit([
            .insertTicket(.sample(1)), .insertAnswer(.sample(1)),
            .insertCredential(.sample(1, state: .pending, lapsesAt: 60)),
            .insertCredential(.sample(2)),
        ])
        func exists() async -> [Bool] {
            [
                await house.store.ticket(digest: TicketRow.sample(1).digest) != nil,
                await house.store.answer(key: AnswerRow.sample(1).key) != nil,
                await house.store.credential(.sample(1)) != nil,
            ]
        }
        await house.happen(on: 0..<1)
        var housekeeper = house.housekeeper(keepingEventsFor: Self.lifetime)
        for (day, complaint) in [(91, nil), (5_000, nil), (0, "clock-unknown")]
            as [(Int64, String?)]
        {
            house.set(day: day, complaint: complaint)
            await housekeeper.tidy()
            #expect(await exists() == [true, true, true])
        }
        // Four hours after an event.
        house.set(day: 0, hours: 4, complaint: "clock-unknown")
        await housekeeper.tidy()
        #expect(await exists() == [true, true, true])
        house.set(day: 0, hours: 4)
        await housekeeper.tidy()
        #expect(await exists() == [false, false, false])
        #expect(await house.store.credential(.sample(2)) != nil)
        #expect(await house.days() == [0])
    }

    @Test(
        "--keep-events accepts a whole number of days, or “all”",
        arguments: [
            ([], 400), (["--keep-events", "1"], 1), (["--keep-events", "36500"], 36_500),
            (["--keep-events", "all"], nil),
        ] as [([String], Int64?)])
    func option(words: [String], days: Int64?) throws {
        let settings = try ServingSettings(arguments(words), now: 0)
        #expect(settings.eventLifetime == days.map { $0 * Self.day * 1_000 })
    }

    @Test(
        "--keep-events rejects anything but “all” or a whole number from 1 to 36500",
        arguments: ["0", "36501", "-1", "+1", "1.5", "", "ALL", "99999999999999999999"])
    func refused(text: String) throws {
        #expect {
            _ = try ServingSettings(arguments(["--keep-events", text]), now: 0)
        } throws: { error in
            if case UsageError.badValue("keep-events", _) = error { true } else { false }
        }
    }

    @Test("--guess-bound accepts a bound that the server can enforce; an error names the range")
    func guessBound() throws {
        let bounded = try ServingSettings(arguments(["--guess-bound", "0.5%"]), now: 0)
        #expect(bounded.policy.guessBound?.millionths == 5_000)
        #expect(try ServingSettings(arguments([]), now: 0).policy.guessBound == nil)
        let smallest = Policy.standard.smallestGuessBound
        #expect(
            try ServingSettings(arguments(["--guess-bound", smallest.percentage]), now: 0)
                .policy.guessBound == smallest)
        let smaller = try #require(GuessBound(millionths: smallest.millionths - 1))
        for text in [smaller.percentage, "1", "101%", ""] {
            #expect {
                _ = try ServingSettings(arguments(["--guess-bound", text]), now: 0)
            } throws: { error in
                guard case UsageError.badValue("guess-bound", let expected) = error
                else { return false }
                return expected.contains(smallest.percentage)
            }
        }
    }

    @Test(
        "a server keeps the events of its database for the retention period",
        arguments: [(["--keep-events", "450"], 450), ([], 400), (["--keep-events", "all"], 500)])
    func served(words: [String], kept: Int) async throws {
        let state = try ServerProcess.State()
        let places = try ServerPaths(
            arguments(["--store", "sqlite:\(state.database)", "--keys", state.keyFile]))
        let context = try ServerContext.open(places, making: true)
        let now = ServerContext.now()
        // Offset by half a day, so that no event is exactly at the limit.
        let days = (0..<500).map { day in
            StoreChange.appendEvent(
                Event(.accepted, time: now.adding(seconds: Self.day * Int64(day - 500) + 43_200)))
        }
        let latest = StoreChange.appendEvent(
            Event(.accepted, time: now.adding(seconds: -6 * 3_600)))
        let changes = days + [latest, .insertAnswer(.sample(1))]
        #expect(try await context.store.commit(changes) == .done)
        let server = try await ServerProcess(state, arguments: words)
        // The answer is deleted together with the events.
        while try await context.store.answer(key: AnswerRow.sample(1).key) != nil {
            try await Task.sleep(for: .milliseconds(5))
        }
        let events = try await context.store.events(after: 0, limit: 1_000)
        #expect(events.count == kept + 1)
        #expect(events.last?.position == 501)
        context.close()
        try await server.stop()
        #expect(try await state.run("audit", "verify").status == 0)
    }

    private func arguments(_ words: [String]) throws -> ServerArguments {
        let request = try ArgumentParser<ServerVerb>.parse(["serve"] + words)
        guard case .run(_, let arguments) = request else { throw NotUnderstood() }
        return arguments
    }

    private struct NotUnderstood: Error {}
}
