import Verification

extension StoreContract {
    /// A rule about a new database that an attacker without the key can write.
    public typealias EditingRule = RuleAbout<EditedDatabase>

    /// All of these rules except ``disguises``.
    public static let editingRules = [
        EditingRule(
            "O-01 a row with any column changed is reported as damaged and never returned",
            checkEveryColumn),
        EditingRule(
            "O-01 an authentic row in another row's place is reported as damaged", checkSwaps),
        EditingRule("O-01 an audit names a row whose primary key was emptied", checkEmptyKeys),
        EditingRule(
            "V-06 a damaged row fails no request about another subject, known or not",
            checkBystanders),
        EditingRule(
            "O-02 an audit names a credential whose row was rolled back to an older version",
            checkPutBackRows),
        EditingRule(
            "O-02 an audit names rows that no event records, and rows that were deleted",
            checkUnrecordedRows),
        EditingRule(
            "O-02 an audit names clients whose rows were rolled back, forged or deleted",
            checkClients),
        EditingRule("O-02 an event names every row that its commit wrote", checkSharedEvents),
        EditingRule(
            "O-03 an audit names a chain whose end position was changed", checkHeadPosition),
        EditingRule("O-03 only authentic events confirm the clock", checkWitness),
    ]
}

// Rows that were edited without the key must be reported as damaged, never returned.
extension StoreContract {
    /// O-01: every column of every table, changed in turn.
    static func checkEveryColumn(_ database: EditedDatabase) async throws {
        for table in StoredTable.allCases {
            let edits = table.edits(database.bytes)
            try expectEqual(Set(try database.columns(table.rawValue)), Set(edits.map(\.column)))
            for (number, edit) in edits.enumerated() {
                let row = try await database.insert(table, 1_000 + number)
                try database.set("\(edit.column) = \(edit.value)", in: table, row)
                let what = "\(table): \(edit.column) = \(edit.value)"
                try await database.expectDamage(table, 1_000 + number, what)
                // Deleted, so that the next edit can use the same value.
                try database.empty(table)
            }
        }
    }

    /// The only other row is damaged, so that dummy work cannot read any other row.
    static func checkBystanders(_ database: EditedDatabase) async throws {
        let row = try await database.insert(.credentials, 1)
        try database.set(
            "body = \(database.bytes(sampleBytes(1, count: 200)))", in: .credentials, row)
        try await database.expectDamage(.credentials, 1, "the damaged row")
        for query in StoredTable.queries(of: .sample("bystander")) {
            let found = try await database.store.credentials(query, limit: 10)
            try expect(found.isEmpty, "\(found)")
        }
        // An id before the damaged row, for which a look-up reads that row instead, and later ones.
        for number in [0, 2, 9] {
            let found = try await database.store.credential(.sample(number))
            try expect(found == nil, "\(number) does not exist")
        }
        let dummy = DummyRow(slot: 1, body: sampleBytes(3, count: 200))
        try expectEqual(try await database.store.commit([.writeDummy(dummy)]), .done)
    }

    /// O-01: authentic values copied into another row.
    static func checkSwaps(_ database: EditedDatabase) async throws {
        for table in StoredTable.allCases {
            let columns = try database.columns(table.rawValue).filter { $0 != table.key }
            let first = try await database.insert(table, 1)
            let second = try await database.insert(table, 2)
            // Copying all columns except those that must be unique moves the row to a different
            // place.
            for column in columns where !["fingerprint", "digest"].contains(column) {
                try database.copy(column, in: table, from: first, to: second)
            }
            try await database.expectDamage(table, 2, "\(table): a row in another row's place")
            try database.empty(table)
        }
    }
}

extension EditedDatabase {
    /// Inserts the row with this number and returns its key.
    fileprivate func insert(_ table: StoredTable, _ number: Int) async throws -> [UInt8] {
        let (change, key): (StoreChange, [UInt8]) =
            switch table {
            case .credentials:
                (
                    .insertCredential(
                        .sample(number, subject: "user \(number)", fingerprint: number)),
                    CredentialID.sample(number).bytes
                )
            case .tickets:
                (
                    .insertTicket(.sample(number | 1, credential: number)),
                    sampleBytes(number | 1, count: 32)
                )
            case .challenges:
                (
                    .insertChallenge(.sample(number, credential: number)),
                    sampleBytes(number, count: 32)
                )
            case .answers:
                (
                    .insertAnswer(.sample(number, credential: number)),
                    sampleBytes(number, count: 32)
                )
            case .clients:
                (
                    .insertClient(.sample(number, revokedAt: 5, subjects: "shop/")),
                    sampleBytes(number, count: 16)
                )
            }
        try expectEqual(try await store.commit([change]), .done)
        return key
    }

    /// Expects that no read returns the row, and that at least one read reports damage.
    fileprivate func expectDamage(_ table: StoredTable, _ number: Int, _ what: String) async throws
    {
        var damaged = 0
        for read in reads(table, number) {
            do {
                let found = try await read()
                try expect(found.isEmpty, "\(what): \(found)")
            } catch let failure as StoreFailure {
                try expectEqual(failure.kind, .damaged)
                damaged += 1
            }
        }
        try expect(damaged > 0, "\(what): no read reported damage")
    }

    /// Every way to read a row of the table.
    private func reads(
        _ table: StoredTable, _ number: Int
    ) -> [() async throws -> [any StoredRow]] {
        let digests = [number, number | 1, 77].map { sampleBytes($0, count: 32) }
        switch table {
        case .credentials:
            let ids = [CredentialID.sample(number), .sample(77)]
            let subjects = [Subject.sample("user \(number)"), .sample("mallory")]
            let all: [CredentialQuery] = [
                .under(nil, after: nil), .aliveBySubject(beginning: [], after: nil),
            ]
            return all.map { query in { try await store.credentials(query, limit: 10) } }
                + ids.map { id in { try await list(store.credential(id)) } }
                + digests.map { print in { try await list(store.credential(fingerprint: print)) } }
                + subjects.flatMap(StoredTable.queries).map { query in
                    { try await store.credentials(query, limit: 10) }
                }
        case .tickets:
            return digests.map { digest in { try await list(store.ticket(digest: digest)) } }
        case .challenges:
            return digests.map { digest in { try await list(store.challenge(digest: digest)) } }
        case .answers:
            return digests.map { key in { try await list(store.answer(key: key)) } }
        case .clients:
            return [{ try await store.clients() }]
                + digests.map { digest in { try await list(store.client(digest: digest)) } }
        }
    }

    private func list<Row>(_ row: Row?) -> [Row] { row.map { [$0] } ?? [] }
}
