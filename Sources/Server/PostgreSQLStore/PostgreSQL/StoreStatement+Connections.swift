internal import SQLStore

extension StoreStatement {
    /// The statement's name on the connection.
    var name: String { rawValue }

    /// The statement's text in PostgreSQL.
    var sql: String {
        guard let sql = sql(in: PostgreSQLDialect()) else {
            preconditionFailure("PostgreSQL has no statement \(self)")
        }
        return sql
    }

    /// The statements of a connection that reads.
    static let reading: [StoreStatement] = [
        .credentialByID, .credentialsAlive, .credentialsAliveOfEach, .credentialsRevoked,
        .credentialByFingerprint, .credentialsUnderKey, .credentialsByID, .credentialUsage,
        .answerUsage, .ticket, .challenge, .answer, .clientByDigest, .clients, .events, .chains,
        .knownHeads,
    ]

    /// The statements of a connection that commits.
    static let writing: [StoreStatement] = [
        .lockSubjects, .requireCapacity, .insertCredentials, .updateCredentials, .seekCredentials,
        .insertTickets, .spendTickets, .dropTickets, .insertChallenges, .spendChallenges,
        .dropChallenges, .endAnswers, .insertAnswers, .seekAnswers, .insertClients,
        .updateClients, .writeDummies, .appendEvents, .openChains,
        .lockChain, .unlockChain, .chainHead, .beginChain, .knownHeads,
    ]

    /// The statements of an audit of a database with this number of schema steps.
    static func auditing(steps: Int) -> [StoreStatement] {
        [.chains, .events, .credentialsByID, .ticketsByDigest, .answersByKey, .clientsByID]
            + (steps < PostgreSQLDialect.stepOfChallenges ? [] : [.challengesByDigest])
    }

    /// The statements of pruning.
    static let pruning: [StoreStatement] = [
        .events, .chains, .pruneCredentials, .pruneTickets, .pruneChallenges, .pruneAnswers,
        .pruneEvents, .updateStart, .knownHeads,
    ]
}
