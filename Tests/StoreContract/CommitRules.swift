import Verification

extension StoreContract {
    static let commitRules = [
        Rule("a commit with one failed condition changes nothing") { subject in
            let store = subject.store
            _ = try await store.commit([
                .insertCredential(.sample(1)), .insertTicket(.sample(1)),
                .insertTicket(.sample(3)), .insertChallenge(.sample(1)),
                .insertAnswer(.sample(1)), .insertClient(.sample(1)),
            ])
            let head = try await store.chains().last?.head
            let failing: [StoreChange] = [
                .insertCredential(.sample(1)), .updateCredential(.sample(1, version: 4)),
                .insertTicket(.sample(3)), .spendTicket(digest: sampleBytes(9, count: 32)),
                .insertChallenge(.sample(1)), .spendChallenge(digest: sampleBytes(9, count: 32)),
                .insertAnswer(.sample(1)), .insertClient(.sample(1)),
                .insertClient(.sample(2, digest: 1)), .updateClient(.sample(1, version: 3)),
                .writeDummyAnswer(.sample(1)),
            ]
            for change in failing {
                let others: [StoreChange] = [
                    .insertCredential(.sample(2)),
                    .updateCredential(.sample(1, version: 2, body: 5)), .insertTicket(.sample(2)),
                    .spendTicket(digest: TicketRow.sample(1).digest),
                    .insertChallenge(.sample(2)), .insertAnswer(.sample(2)),
                    .insertClient(.sample(3)),
                    .appendEvent(.sample(1)),
                ]
                for place in [0, others.count / 2, others.count] {
                    var changes = others
                    changes.insert(change, at: place)
                    try expectEqual(try await store.commit(changes), .conflict)
                }
            }
            try expectEqual(try await store.credential(.sample(1)), .sample(1))
            try expectEqual(try await store.credential(.sample(2)), nil)
            let ticket = TicketRow.sample(1)
            try expectEqual(try await store.ticket(digest: ticket.digest), ticket)
            try expectEqual(try await store.ticket(digest: TicketRow.sample(2).digest), nil)
            let digests = (1...2).map { ChallengeRow.sample($0).digest }
            try expectEqual(try await store.challenge(digest: digests[0]), .sample(1))
            try expectEqual(try await store.challenge(digest: digests[1]), nil)
            try expectEqual(try await store.answer(key: AnswerRow.sample(2).key), nil)
            try expectEqual(try await store.clients(), [.sample(1)])
            try expectEqual(try await store.events(after: 0, limit: 10), [])
            try expectEqual(try await store.chains().last?.head, head)
        },
        Rule("changes are applied in order, each to the result of the earlier ones") { subject in
            let store = subject.store
            try expectEqual(
                try await store.commit([
                    .insertCredential(.sample(1)), .updateCredential(.sample(1, version: 2)),
                    .insertTicket(.sample(1)), .spendTicket(digest: TicketRow.sample(1).digest),
                ]), .done)
            try expectEqual(try await store.credential(.sample(1)), .sample(1, version: 2))
            _ = try await store.commit([.insertTicket(.sample(2))])
            let twice = StoreChange.spendTicket(digest: TicketRow.sample(2).digest)
            try expectEqual(try await store.commit([twice, twice]), .conflict)
            try expectEqual(try await store.ticket(digest: TicketRow.sample(2).digest), .sample(2))
        },
        Rule("a ticket is spent once") { subject in
            let store = subject.store
            let ticket = TicketRow.sample(1)
            _ = try await store.commit([.insertTicket(ticket)])
            let spending = [StoreChange.spendTicket(digest: ticket.digest)]
            try expectEqual(try await subject.second.commit(spending), .done)
            try expectEqual(try await store.commit(spending), .conflict)
            try expectEqual(try await store.ticket(digest: ticket.digest), nil)
        },
        Rule("dropping a credential's tickets keeps those of other credentials") { subject in
            let store = subject.store
            _ = try await store.commit([
                .insertTicket(.sample(1)), .insertTicket(.sample(2)),
                .insertTicket(.sample(3, credential: 2)),
            ])
            try expectEqual(try await store.commit([.dropTickets(of: .sample(1))]), .done)
            try expectEqual(try await store.commit([.dropTickets(of: .sample(1))]), .done)
            for (number, exists) in [(1, false), (2, false), (3, true)] {
                let row = try await store.ticket(digest: sampleBytes(number, count: 32))
                try expectEqual(row != nil, exists)
            }
        },
        Rule("O-06 ending a credential's answers deletes their sealed content but no row") {
            subject in
            let store = subject.store
            for row in [AnswerRow.sample(1, credential: 1), .sample(2, credential: 2), .sample(3)] {
                try expectEqual(try await store.commit([.insertAnswer(row)]), .done)
            }
            // An answer that the same commit adds later stays.
            let changes: [StoreChange] = [
                .endAnswers(of: .sample(1)), .insertAnswer(.sample(4, credential: 1, key: 2)),
            ]
            try expectEqual(try await store.commit(changes), .done)
            for row in [
                AnswerRow.sample(1, credential: 1, key: nil), .sample(2, credential: 2),
                .sample(3), .sample(4, credential: 1, key: 2),
            ] {
                try expectEqual(try await subject.second.answer(key: row.key), row)
            }
            try expectEqual(try await store.keyUsage().map(\.answers), [2, 1])
            try expectEqual(try await store.commit([.endAnswers(of: .sample(1))]), .done)
            try expectEqual(try await store.commit([.endAnswers(of: .sample(9))]), .done)
            try expectEqual(try await store.keyUsage().map(\.answers), [2])
            // The ended answer's key still cannot be used again.
            try expectEqual(try await store.commit([.insertAnswer(.sample(1))]), .conflict)
        },
        Rule("only one client that is not revoked can have a given name") { subject in
            let store = subject.store
            let first = ClientRow.sample(1, name: "shop")
            try expectEqual(try await store.commit([.insertClient(first)]), .done)
            let second = ClientRow.sample(2, name: "shop")
            try expectEqual(try await subject.second.commit([.insertClient(second)]), .conflict)
            let other = ClientRow.sample(3, name: "Shop")
            try expectEqual(try await store.commit([.insertClient(other)]), .done)
            let revoked = ClientRow.sample(1, version: 2, name: "shop", revokedAt: 9)
            try expectEqual(try await store.commit([.updateClient(revoked)]), .done)
            try expectEqual(try await subject.second.commit([.insertClient(second)]), .done)
            try expectEqual(try await store.clients(), [revoked, second, other])
        },
        Rule("a client whose digest changes is found by the new digest only") {
            subject in
            let store = subject.store
            try expectEqual(
                try await store.commit([.insertClient(.sample(1)), .insertClient(.sample(2))]),
                .done)
            let renewed = ClientRow.sample(1, version: 2, digest: 3)
            try expectEqual(try await store.commit([.updateClient(renewed)]), .done)
            let second = subject.second
            try expectEqual(try await second.client(digest: ClientRow.sample(1).digest), nil)
            try expectEqual(try await second.client(digest: renewed.digest), renewed)
            // An update cannot take another client's digest.
            let taken = StoreChange.updateClient(.sample(2, version: 2, digest: 3))
            try expectEqual(try await store.commit([taken]), .conflict)
            try expectEqual(try await store.clients(), [renewed, .sample(2)])
        },
        Rule("answers, clients and tickets are read exactly as they were written") { subject in
            let store = subject.store
            let clients = [
                ClientRow.sample(1),
                .sample(2, name: "", scopes: []), .sample(3, name: "a\n\u{1f511}", scopes: [""]),
                .sample(4, scopes: ["", "a b", "\n"], revokedAt: 5),
            ]
            for client in clients {
                try expectEqual(try await store.commit([.insertClient(client)]), .done)
                try expectEqual(try await store.client(digest: client.digest), client)
            }
            try expectEqual(try await store.clients(), clients)
            let revoked = ClientRow.sample(1, version: 2, revokedAt: 9)
            try expectEqual(try await store.commit([.updateClient(revoked)]), .done)
            try expectEqual(try await subject.second.client(digest: revoked.digest), revoked)
            try expectEqual(try await store.client(digest: sampleBytes(99, count: 32)), nil)
            for number in 1...2 {
                let (answer, ticket) = (AnswerRow.sample(number), TicketRow.sample(number))
                let changes: [StoreChange] = [.insertAnswer(answer), .insertTicket(ticket)]
                try expectEqual(try await store.commit(changes), .done)
                try expectEqual(try await subject.second.answer(key: answer.key), answer)
                try expectEqual(try await subject.second.ticket(digest: ticket.digest), ticket)
            }
        },
        Rule("a dummy row is always written, and never read as a credential") { subject in
            for value in [1, 2, 1 + DummyRow.slotCount] {
                let dummy = DummyRow(slot: UInt64(value), body: sampleBytes(value, count: 200))
                try expectEqual(try await subject.store.commit([.writeDummy(dummy)]), .done)
            }
            try expectEqual(
                try await subject.store.credentials(.under(nil, after: nil), limit: 10), [])
        },
    ]
}
