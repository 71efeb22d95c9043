public import Verification

// What somebody without the key does to rows that are authentic by themselves, and to the events.
extension StoreContract {
    /// O-02: an older version of a row is authentic, and an audit names its credential.
    ///
    /// - Parameter audit: what an audit finds in the rows.
    public static func checkPutBackRows(
        _ database: EditedDatabase, audit: () throws -> [RowAudit.Finding]
    ) async throws {
        let store = database.store
        for number in 1...3 {
            try await write(.insertCredential(.sample(number)), number, store)
        }
        try database.keep(.credentials)
        for version: UInt64 in 2...4 {
            try await write(.updateCredential(.sample(1, version: version)), 1, store)
        }
        try expectEqual(try audit(), [])
        try database.putBack(.credentials, CredentialID.sample(1).bytes)
        try expectEqual(try await store.credential(.sample(1)), .sample(1))
        try expectEqual(try audit(), [.putBack(.sample(1))])
        // Nor does it help to go on from there, to the same version and beyond.
        for version: UInt64 in 2...5 {
            try await write(.updateCredential(.sample(1, version: version)), 1, store)
            try expectEqual(try audit(), [.putBack(.sample(1))])
        }
    }

    /// O-02: a row that no event tells of, and one that is gone.
    public static func checkUnrecordedRows(
        _ database: EditedDatabase, audit: () throws -> [RowAudit.Finding]
    ) async throws {
        let store = database.store
        for number in 1...2 {
            try await write(.insertCredential(.sample(number)), number, store)
        }
        // A pending row goes without an event.
        try await write(
            .insertCredential(.sample(3, state: .pending, lapsesAt: 1)), 3, store)
        _ = try await store.prune(Pruning(now: .at(2)))
        try expectEqual(try audit(), [])
        // Authentic rows whose events never were.
        try expectEqual(
            try await store.commit([
                .insertCredential(.sample(4)), .updateCredential(.sample(2, version: 2)),
            ]), .done)
        try expectEqual(try audit(), [.unrecorded(.sample(2)), .unrecorded(.sample(4))])
        try database.delete(.credentials, CredentialID.sample(1).bytes)
        try database.set("version = 9", in: .credentials, CredentialID.sample(2).bytes)
        try expectEqual(
            try audit(),
            [
                .damaged(table: "credentials", key: CredentialID.sample(2).bytes),
                .unrecorded(.sample(4)), .missing(.sample(1)),
            ])
    }

    /// O-02: one event names every row that its commit wrote.
    public static func checkSharedEvents(
        _ database: EditedDatabase, audit: () throws -> [RowAudit.Finding]
    ) async throws {
        let store = database.store
        let inserts = (1...40).map { StoreChange.insertCredential(.sample($0)) }
        _ = try await store.commit(inserts + [.appendEvent(.sample(1))])
        try database.keep(.credentials)
        let updates = (1...40).map { StoreChange.updateCredential(.sample($0, version: 2)) }
        // The event stands before some of the rows.
        let event = StoreChange.appendEvent(Event(.keysRotated, time: .at(0), number: 40))
        _ = try await store.commit(Array(updates[..<5]) + [event] + Array(updates[5...]))
        try expectEqual(try audit(), [])
        for number in [3, 40] {
            try database.putBack(.credentials, CredentialID.sample(number).bytes)
        }
        try expectEqual(
            Set(try audit()), [.putBack(.sample(3)), .putBack(.sample(40))])
    }

    /// O-03: events taken away, with the chains' ends adjusted by who has no key; there are ten events.
    public static let erasures: [(String, String)] = [
        (
            "everything",
            "UPDATE chains SET start_sequence = head_sequence, start_digest = head_digest, "
                + "start_authentication = head_authentication; DELETE FROM events"
        ),
        (
            "everything, as if it had been pruned",
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
            "the middle, closed up",
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
        ("what it stood behind", "UPDATE events SET behind = 3 WHERE position = 5"),
    ]

    private static func write(
        _ change: StoreChange, _ number: Int, _ store: any VerificationStore
    ) async throws {
        try expectEqual(try await store.commit([change, .appendEvent(.sample(number))]), .done)
    }
}
