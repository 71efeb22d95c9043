public import Verification

// Attacks without the key: on the events, and on rows that are authentic on their own.
extension StoreContract {
    /// O-02: an older version of a row is authentic, but an audit names its credential.
    static func checkPutBackRows(_ database: EditedDatabase) async throws {
        let store = database.store
        for number in 1...3 {
            try await write(.insertCredential(.sample(number)), number, store)
        }
        try database.keep(.credentials)
        for version: UInt64 in 2...4 {
            try await write(.updateCredential(.sample(1, version: version)), 1, store)
        }
        try expectEqual(try database.audit().rows, [])
        try database.rolledBack(.credentials, CredentialID.sample(1).bytes)
        try expectEqual(try await store.credential(.sample(1)), .sample(1))
        try expectEqual(try database.audit().rows, [.rolledBack(.credential(.sample(1)))])
        // Continuing from the old row, to the same version and beyond, does not hide the rollback.
        for version: UInt64 in 2...5 {
            try await write(.updateCredential(.sample(1, version: version)), 1, store)
            try expectEqual(try database.audit().rows, [.rolledBack(.credential(.sample(1)))])
        }
    }

    /// O-02: an audit finds a row that no event records, and a row that was deleted.
    static func checkUnrecordedRows(_ database: EditedDatabase) async throws {
        let store = database.store
        for number in 1...2 {
            try await write(.insertCredential(.sample(number)), number, store)
        }
        // A pending row may be deleted without an event.
        try await write(
            .insertCredential(.sample(3, state: .pending, lapsesAt: 1)), 3, store)
        _ = try await store.prune(Pruning(now: .at(2)))
        try expectEqual(try database.audit().rows, [])
        // The rows are authentic, but their events never existed.
        try expectEqual(
            try await store.commit([
                .insertCredential(.sample(4)), .updateCredential(.sample(2, version: 2)),
            ]), .done)
        try expectEqual(
            try database.audit().rows,
            [.unrecorded(.credential(.sample(2))), .unrecorded(.credential(.sample(4)))])
        try database.delete(.credentials, CredentialID.sample(1).bytes)
        try database.set("version = 9", in: .credentials, CredentialID.sample(2).bytes)
        try expectEqual(
            try database.audit().rows,
            [
                .damaged(table: "credentials", key: CredentialID.sample(2).bytes),
                .unrecorded(.credential(.sample(4))), .missing(.credential(.sample(1))),
            ])
    }

    /// O-02: an audit finds a revoked client that was restored, a client that no event records, and
    /// a deleted client.
    static func checkClients(_ database: EditedDatabase) async throws {
        let store = database.store
        for number in 1...2 { try await write(.insertClient(.sample(number)), number, store) }
        try database.keep(.clients)
        try await write(.updateClient(.sample(1, version: 2, revokedAt: 9)), 1, store)
        try expectEqual(try database.audit().rows, [])
        let ids = (1...3).map { sampleBytes($0, count: 16) }
        try database.rolledBack(.clients, ids[0])
        // The restored row is authentic, so its key works again; the audit reports it.
        try expectEqual(
            try await store.client(digest: ClientRow.sample(1).digest), ClientRow.sample(1))
        try expectEqual(try database.audit().rows, [.rolledBack(.client(ids[0]))])
        // Revoking it again does not hide the rollback.
        try await write(.updateClient(.sample(1, version: 2, revokedAt: 9)), 1, store)
        try expectEqual(try database.audit().rows, [.rolledBack(.client(ids[0]))])
        try expectEqual(try await store.commit([.insertClient(.sample(3))]), .done)
        try database.delete(.clients, ids[1])
        try expectEqual(
            try database.audit().rows,
            [
                .rolledBack(.client(ids[0])), .unrecorded(.client(ids[2])),
                .missing(.client(ids[1])),
            ])
    }

    /// O-01: an audit finds a row whose primary key was emptied.
    static func checkEmptyKeys(_ database: EditedDatabase) async throws {
        let changes: [(StoredTable, StoreChange, [UInt8])] = [
            (.tickets, .insertTicket(.sample(1)), TicketRow.sample(1).digest),
            (.challenges, .insertChallenge(.sample(1)), ChallengeRow.sample(1).digest),
            (.answers, .insertAnswer(.sample(1)), AnswerRow.sample(1).key),
            (.clients, .insertClient(.sample(1)), ClientRow.sample(1).id),
        ]
        for (table, change, key) in changes {
            try await write(change, 1, database.store)
            try expectEqual(try database.audit().rows, [])
            try database.set("\(table.key) = \(database.bytes([]))", in: table, key)
            try expect(
                try database.audit().rows.contains(.damaged(table: table.rawValue, key: [])),
                "\(table)")
            try database.empty(table)
        }
    }

    /// O-03: the recorded position of a chain's end must be the position of its last event.
    static func checkHeadPosition(_ database: EditedDatabase) async throws {
        for number in 1...3 {
            _ = try await database.store.commit([.appendEvent(.sample(number))])
        }
        let chains = try await database.store.chains()
        guard let node = chains.first(where: { $0.head.sequence == 3 })?.head.node else {
            throw ContractBreach(description: "one chain")
        }
        try expectEqual(try database.audit().events, [])
        for shift in ["+ 1", "- 1"] {
            try database.run(
                "UPDATE \(database.schema)chains SET head_position = head_position \(shift) "
                    + "WHERE head_sequence = 3")
            try expectEqual(
                try database.audit().events, shift == "+ 1" ? [.movedHead(node: node)] : [])
        }
    }

    /// O-02: one event names every row that its commit wrote.
    static func checkSharedEvents(_ database: EditedDatabase) async throws {
        let store = database.store
        let inserts = (1...40).map { StoreChange.insertCredential(.sample($0)) }
        _ = try await store.commit(inserts + [.appendEvent(.sample(1))])
        try database.keep(.credentials)
        let updates = (1...40).map { StoreChange.updateCredential(.sample($0, version: 2)) }
        // The event comes before some of the rows.
        let event = StoreChange.appendEvent(Event(.keysRotated, time: .at(0), number: 40))
        _ = try await store.commit(Array(updates[..<5]) + [event] + Array(updates[5...]))
        try expectEqual(try database.audit().rows, [])
        for number in [3, 40] {
            try database.rolledBack(.credentials, CredentialID.sample(number).bytes)
        }
        try expectEqual(
            Set(try database.audit().rows),
            [.rolledBack(.credential(.sample(3))), .rolledBack(.credential(.sample(40)))])
    }

    /// O-03: deletions of events, with the chain's ends adjusted by an attacker who has no key;
    /// there are ten events.
    public static let erasures: [(String, String)] = [
        (
            "everything",
            "UPDATE chains SET start_sequence = head_sequence, start_digest = head_digest, "
                + "start_authentication = head_authentication; DELETE FROM events"
        ),
        (
            "all events, disguised as pruning",
            "UPDATE chains SET start_sequence = head_sequence, start_digest = head_digest, "
                + "start_position = head_position, start_behind = head_position - 1, "
                + "pruned_before = 1700000100000, pruned_at = 1700000100000, "
                + "start_authentication = head_authentication; DELETE FROM events"
        ),
        (
            "the beginning",
            "UPDATE chains SET start_sequence = 7, start_digest = (SELECT digest FROM events "
                + "WHERE position = 7), start_position = 7, start_behind = 6, "
                + "pruned_before = 1700000100000, pruned_at = 1700000100000, "
                + "start_authentication = head_authentication; "
                + "DELETE FROM events WHERE position <= 7"
        ),
        ("the beginning alone", "DELETE FROM events WHERE position <= 7"),
        ("the middle", "DELETE FROM events WHERE position BETWEEN 3 AND 8"),
        (
            "the middle, with the gap closed",
            "DELETE FROM events WHERE position BETWEEN 3 AND 8; "
                + "UPDATE events SET position = position - 6, sequence = sequence - 6 "
                + "WHERE position > 8; "
                + "UPDATE chains SET head_sequence = 4, head_position = 4"
        ),
        (
            "the end",
            "UPDATE chains SET head_sequence = 3, head_position = 3, head_digest = "
                + "(SELECT digest FROM events WHERE position = 3); "
                + "DELETE FROM events WHERE position > 3"
        ),
        ("the end alone", "DELETE FROM events WHERE position > 9"),
        ("an event's place", "UPDATE events SET position = 11 WHERE position = 10"),
        (
            "all places",
            "UPDATE events SET position = position + 100; UPDATE events SET behind = behind + 100"
        ),
        ("the position before an event", "UPDATE events SET behind = 3 WHERE position = 5"),
    ]

    /// O-03: changes to fifty events, one per day, by an attacker who has no key and wants the
    /// server to treat them as expired and delete them.
    ///
    /// Only the last change affects the chain's records.
    public static let disguises: [(String, String)] = [
        ("all times", "UPDATE events SET time = 1000"),
        ("an old event's time", "UPDATE events SET time = time + 1 WHERE position = 5"),
        ("a recent event's time", "UPDATE events SET time = 1000 WHERE position = 21"),
        ("a time far in the future", "UPDATE events SET time = 9000000000000 WHERE position = 1"),
        ("an old event", "DELETE FROM events WHERE position = 7"),
        ("the first event", "DELETE FROM events WHERE position = 1"),
        (
            "a digest",
            "UPDATE events SET digest = (SELECT digest FROM events AS other "
                + "WHERE other.position = 30) WHERE position = 19"
        ),
        (
            "a body",
            "UPDATE events SET body = (SELECT body FROM events AS other "
                + "WHERE other.position = 3) WHERE position = 4"
        ),
        ("a number", "UPDATE events SET sequence = 99 WHERE position = 20"),
        ("the beginning", "UPDATE chains SET start_position = 1"),
    ]

    /// O-03: if an event to be pruned is not authentic, the server deletes no event and
    /// authenticates no new start of the chain.
    public static func checkDisguise(
        _ store: any VerificationStore, edit: () throws -> Void
    ) async throws {
        for number in 1...50 {
            _ = try await store.commit([
                .appendEvent(.sample(number, at: Int64(number) * 86_400))
            ])
        }
        try edit()
        let chains = try await store.chains()
        let events = try await store.events(after: 0, limit: 100)
        // The first twenty events are old enough to be pruned.
        let pruning = Pruning(now: .at(50 * 86_400), eventsBefore: .at(20 * 86_400 + 1))
        let outcome = try await store.prune(pruning)
        try expectEqual(outcome.events, 0)
        try expect(outcome.areEventsAltered, "reported")
        try expectEqual(try await store.events(after: 0, limit: 100), events)
        try expectEqual(try await store.chains(), chains)
    }

    /// O-03: a forged event, or one whose time was changed, does not confirm the clock.
    static func checkWitness(_ database: EditedDatabase) async throws {
        let store = database.store
        for number in 1...50 {
            _ = try await store.commit([
                .appendEvent(.sample(number, at: Int64(number) * 86_400))
            ])
        }
        func isBorneOut(_ day: Int64) async throws -> Bool {
            try await store.confirmsClock(
                .at(day * 86_400), keepingEventsFor: 400 * 86_400_000, key: database.key)
        }
        try expectEqual(try await isBorneOut(60), true)
        try expectEqual(try await isBorneOut(500), false)
        _ = try await store.prune(Pruning(now: nil, eventsBefore: .at(46 * 86_400)))
        // The first event that was kept is linked to the chain's start.
        try expectEqual(try await isBorneOut(74), true)
        // An event that was linked with a different key.
        guard let head = try await store.chains().first(where: { $0.head.sequence == 50 })?.head
        else { throw ContractBreach(description: "one chain") }
        var chain = EventChain(resuming: head, at: 50, key: try KeyRing.make().auditKey)
        let leap = Event.sample(51, at: 490 * 86_400)
        let forged = chain.append(RecordedEvent(leap), position: 51)
        let events = "\(database.schema)events"
        try database.run(
            "INSERT INTO \(events) SELECT 51, chain, 51, 50, \(forged.time.milliseconds), "
                + "\(database.bytes(forged.body)), \(database.bytes(forged.digest)) "
                + "FROM \(events) WHERE position = 50")
        try expectEqual(try await store.events(after: 50, limit: 1).first?.event, leap)
        try expectEqual(try await isBorneOut(500), false)
        // An authentic event whose time was changed.
        try database.run(
            "DELETE FROM \(events) WHERE position = 51; UPDATE \(events) "
                + "SET time = \(forged.time.milliseconds) WHERE position = 50")
        try expectEqual(try await isBorneOut(500), false)
    }

    private static func write(
        _ change: StoreChange, _ number: Int, _ store: any VerificationStore
    ) async throws {
        try expectEqual(try await store.commit([change, .appendEvent(.sample(number))]), .done)
    }
}
