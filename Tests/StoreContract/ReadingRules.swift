import Verification

extension StoreContract {
    static let readingRules = [
        Rule("a subject's rows are listed oldest first, its revoked rows apart and newest first") {
            subject in
            let store = subject.store
            let rows = [
                CredentialRow.sample(3, createdAt: 1), .sample(1, state: .pending, createdAt: 2),
                .sample(2, state: .revoked, createdAt: 2), .sample(9, createdAt: 3),
                .sample(5, state: .disabled, createdAt: 3),
                .sample(7, state: .revoked, createdAt: 3),
                .sample(6, state: .revoked, createdAt: 3),
            ]
            for row in rows.reversed() { _ = try await store.commit([.insertCredential(row)]) }
            for name in ["alic", "alice2", "Alice", "a\u{301}lice"] {
                let other = CredentialRow.sample(name.hashValue, subject: name)
                _ = try await store.commit([.insertCredential(other)])
            }
            func read(_ time: Int64?, _ limit: Int) async throws -> [CredentialRow] {
                let query: CredentialQuery =
                    if let time {
                        .revoked(of: .sample("alice"), before: .at(time))
                    } else {
                        .alive(of: .sample("alice"))
                    }
                return try await store.credentials(query, limit: limit)
            }
            // Rows of the same age are ordered by id.
            let alive = [rows[0], rows[1], rows[4], rows[3]]
            try expectEqual(try await read(nil, 10), alive)
            try expectEqual(try await read(nil, 3), Array(alive.prefix(3)))
            try expectEqual(try await read(nil, 0), [])
            let revoked = [rows[5], rows[6], rows[2]]
            try expectEqual(try await read(4, 10), revoked)
            try expectEqual(try await read(4, 2), Array(revoked.prefix(2)))
            try expectEqual(try await read(3, 10), [rows[2]])
            try expectEqual(try await read(2, 10), [])
            try expectEqual(try await read(4, 0), [])
            // `\u{e9}` and `e\u{301}` are equal strings in Swift, but two subjects.
            _ = try await store.commit([.insertCredential(.sample(20, subject: "\u{e9}"))])
            try expectEqual(
                try await store.credentials(.alive(of: .sample("e\u{301}")), limit: 10), [])
        },
        Rule("reassigned rows move to another list, and revoked rows leave their list") { subject in
            let store = subject.store
            _ = try await store.commit([.insertCredential(.sample(1))])
            _ = try await store.commit([
                .updateCredential(.sample(1, subject: "bob", version: 2))
            ])
            for (name, count) in [("alice", 0), ("bob", 1)] {
                let rows = try await store.credentials(.alive(of: .sample(name)), limit: 10)
                try expectEqual(rows.count, count)
            }
            _ = try await store.commit([
                .updateCredential(.sample(1, subject: "bob", state: .revoked, version: 3))
            ])
            try expectEqual(
                try await store.credentials(.alive(of: .sample("bob")), limit: 10), [])
        },
        Rule("rows that are not revoked are listed subject by subject, in the order of bytes") {
            subject in
            let store = subject.store
            let names = ["a", "a/", "a/b", "a/b/c", "a0", "é", "unix:w1:x", "unix:w10:x"]
            for (number, name) in names.enumerated() {
                for state in [CredentialState.active, .pending, .disabled, .revoked] {
                    let id = 10 * number + (CredentialState.allCases.firstIndex(of: state) ?? 0)
                    let row = CredentialRow.sample(
                        id, subject: name, state: state, createdAt: Int64(-id))
                    _ = try await store.commit([.insertCredential(row)])
                }
            }
            func list(_ beginning: String, after: String? = nil, limit: Int = 100) async throws
                -> [String]
            {
                let rows = try await store.credentials(
                    .aliveBySubject(
                        beginning: Array(beginning.utf8), after: after.map { .sample($0) }),
                    limit: limit)
                try expect(rows.allSatisfy { $0.state != .revoked }, "a revoked row")
                let areOrdered = zip(rows, rows.dropFirst()).allSatisfy {
                    $0.subject != $1.subject || $0.createdAt < $1.createdAt
                }
                try expect(areOrdered, "a subject's oldest row is not the first one")
                return rows.map(\.subject.text)
            }
            func thrice(_ names: String...) -> [String] {
                names.flatMap { [String](repeating: $0, count: 3) }
            }
            let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try expectEqual(try await list(""), sorted.flatMap { thrice($0) })
            try expectEqual(try await list("a/"), thrice("a/", "a/b", "a/b/c"))
            try expectEqual(try await list("unix:w1:"), thrice("unix:w1:x"))
            try expectEqual(try await list("a/", after: "a/b"), thrice("a/b/c"))
            try expectEqual(try await list("a/", after: "A"), thrice("a/", "a/b", "a/b/c"))
            try expectEqual(try await list("a/", after: "b"), [])
            try expectEqual(try await list("b"), [])
            try expectEqual(try await list("", limit: 4), thrice("a") + ["a/"])
            try expectEqual(try await list("", limit: 0), [])
        },
        Rule("a client's limit is stored with it") { subject in
            let store = subject.store
            let row = ClientRow.sample(1, subjects: "unix:w1:")
            _ = try await store.commit([.insertClient(row), .insertClient(.sample(2))])
            try expectEqual(try await store.client(digest: row.digest), row)
            try expectEqual(try await store.clients().map(\.subjects), [row.subjects, nil])
            let next = ClientRow.sample(1, version: 2, subjects: "unix:w1:")
            _ = try await store.commit([.updateClient(next)])
            try expectEqual(try await store.client(digest: row.digest), next)
        },
        Rule("a key's rows are listed by id, page by page, and counted") { subject in
            let store = subject.store
            var rows: [CredentialRow] = []
            for number in 0..<20 {
                let kind = CredentialKind.allCases[number % 4]
                let key: UInt32? = number % 5 == 4 ? nil : UInt32(1 + number % 2)
                rows.append(.sample(number, kind: kind, key: key))
            }
            for row in rows { _ = try await store.commit([.insertCredential(row)]) }
            for number in 1...3 {
                _ = try await store.commit([.insertAnswer(.sample(number, key: 2))])
            }
            for key in [nil, KeyID.sample(1), .sample(2), .sample(3)] {
                let expected = rows.filter { key == nil || $0.keyID == key }
                    .sorted { $0.id < $1.id }
                var found: [CredentialRow] = []
                while true {
                    let page = try await store.credentials(
                        .under(key, after: found.last?.id), limit: 3)
                    try expect(page.count <= 3, "a page of \(page.count)")
                    found += page
                    if page.isEmpty { break }
                }
                try expectEqual(found, expected)
            }
            let usage = try await store.keyUsage().sorted { $0.keyID < $1.keyID }
            try expectEqual(usage.map(\.keyID), [.sample(1), .sample(2)])
            for entry in usage {
                let own = rows.filter { $0.keyID == entry.keyID }
                let counts = Dictionary(grouping: own, by: \.kind).mapValues(\.count)
                try expectEqual(entry.credentials, counts)
                try expectEqual(entry.answers, entry.keyID == .sample(2) ? 3 : 0)
            }
        },
    ]
}
