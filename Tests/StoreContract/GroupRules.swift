public import Verification

extension StoreContract {
    /// A store whose commits a test can make wait for each other.
    public struct GroupSubject: Sendable {
        /// The results of commits that all wait before the store takes the first commit, by index.
        public typealias Together =
            @Sendable (_ count: Int, _ changes: @escaping @Sendable (Int) -> [StoreChange])
            async throws -> [Result<CommitOutcome, StoreFailure>]

        let subject: Subject
        /// The failure of a row whose version does not fit its column.
        let refusal: StoreFailure
        let together: Together
        /// The number of transactions so far that wrote such commits.
        let transactions: @Sendable () throws -> Int

        /// Combines a store with functions of its tests.
        public init(
            _ subject: Subject, refusal: StoreFailure, together: @escaping Together,
            transactions: @escaping @Sendable () throws -> Int
        ) {
            self.subject = subject
            self.refusal = refusal
            self.together = together
            self.transactions = transactions
        }

        /// Expects that of commits that wait together, the second of every three conflicts, the
        /// third fails, and only the others take effect, in one transaction.
        fileprivate func expectInTurn(
            _ changes: @escaping @Sendable (Int) -> [StoreChange]
        ) async throws {
            let before = try transactions()
            let outcomes = try await together(30, changes)
            let expected = (0..<30).map { index -> Result<CommitOutcome, StoreFailure> in
                [.success(.done), .success(.conflict), .failure(refusal)][index % 3]
            }
            try expectEqual(outcomes, expected)
            for index in 0..<30 {
                let row = try await subject.store.credential(.sample(index))
                try expectEqual(row != nil, index % 3 == 0)
            }
            try expectEqual(try transactions(), before + 1)
            let events = try await subject.store.events(after: 0, limit: 100)
            let numbers = Set(events.compactMap { $0.event?.number }).filter { $0 < 100 }
            try expectEqual(numbers, Set(stride(from: 0, to: 30, by: 3)))
            try expectEqual(try await StoreContract.audit(subject), [])
        }
    }

    /// A rule about commits to a new store that share a transaction.
    public typealias GroupRule = RuleAbout<GroupSubject>

    /// All of these rules.
    public static let groupRules = [
        GroupRule("commits that wait at the same time share one transaction") { group in
            let before = try group.transactions()
            let outcomes = try await group.together(50) { index in
                [.insertCredential(.sample(index)), .appendEvent(.sample(index))]
            }
            try expectEqual(outcomes, Array(repeating: .success(.done), count: 50))
            try expectEqual(try group.transactions(), before + 1)
            try expectEqual(try await audit(group.subject), [])
        },
        GroupRule("a commit that fails or conflicts does not affect the others in its group") {
            group in
            try await group.expectInTurn { index in
                let own: [StoreChange] = [
                    .appendEvent(.sample(index)), .insertCredential(.sample(index)),
                ]
                return switch index % 6 {
                case 0, 3: own
                case 1: own + [.spendTicket(digest: TicketRow.sample(index).digest)]
                case 4: own + [.spendChallenge(digest: ChallengeRow.sample(index).digest)]
                default: own + [.insertCredential(.sample(100 + index, version: .max))]
                }
            }
        },
        GroupRule(
            "a commit whose first change fails or conflicts does not affect the others in its group"
        ) { group in
            try await group.expectInTurn { index in
                let first: StoreChange =
                    switch index % 3 {
                    case 0: .insertCredential(.sample(index))
                    case 1: .updateCredential(.sample(100 + index, version: 2))
                    default: .insertCredential(.sample(index, version: .max))
                    }
                return [first, .appendEvent(.sample(index))]
            }
        },
        GroupRule("commits of one group that touch the same row take effect one after the other") {
            group in
            _ = try await group.subject.store.commit([.insertTicket(.sample(1))])
            let outcomes = try await group.together(20) { _ in
                [.spendTicket(digest: TicketRow.sample(1).digest)]
            }
            try expectEqual(outcomes.count { $0 == .success(.done) }, 1)
            try expectEqual(outcomes.count { $0 == .success(.conflict) }, 19)
        },
    ]
}
