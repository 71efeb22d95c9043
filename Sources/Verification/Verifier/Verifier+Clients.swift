internal import Cryptography

extension Verifier {
    /// Lets an application ask, with an API key that is handed out this once.
    ///
    /// - Parameter scopes: what it may do, in words that the service gives a meaning.
    public func addClient(
        named name: String, scopes: [String]
    ) async throws(VerifierError) -> (client: ClientRow, key: Token)? {
        let name = name.prefix(bytes: ClientRow.maximalNameCount)
        return try await decide(.unknown, recorder: nil) { context throws(VerifierError) in
            // The store holds to it as well, so that of two at a time one comes back here.
            guard try await !clients().contains(where: { $0.revokedAt == nil && $0.name == name })
            else { return Decision(outcome: nil, changes: []) }
            let (key, digest) = try Self.newClientKey(context)
            let row = ClientRow(
                id: try context.randomBytes(16), version: 1, digest: digest, name: name,
                scopes: Set(scopes).sorted(), createdAt: context.now, revokedAt: nil)
            return Decision(
                outcome: (client: row, key: key),
                changes: [.insertClient(row), context.event(.clientAdded, of: row)])
        }
    }

    /// Replaces an application's API key; the old key stops working at once and on every node.
    ///
    /// The id stays, so the application still redeems the logins of the devices that it enrolled.
    /// Revoking is final: a revoked application gets no new key.
    public func renewClient(_ id: [UInt8]) async throws(VerifierError) -> ClientRenewal {
        try await decide(.unknown, recorder: nil) { context throws(VerifierError) in
            guard let row = try await clients().first(where: { $0.id == id }) else {
                return Decision(outcome: .unknown, changes: [])
            }
            guard row.revokedAt == nil else { return Decision(outcome: .revoked, changes: []) }
            let (key, digest) = try Self.newClientKey(context)
            let renewed = ClientRow(
                id: row.id, version: row.version + 1, digest: digest, name: row.name,
                scopes: row.scopes, createdAt: row.createdAt, revokedAt: nil)
            return Decision(
                outcome: .renewed(renewed, key),
                changes: [.updateClient(renewed), context.event(.clientRenewed, of: renewed)])
        }
    }

    private static func newClientKey(
        _ context: DecisionContext
    ) throws(VerifierError) -> (key: Token, digest: [UInt8]) {
        let kind = Token.Kind.clientKey
        let key = Token(kind, try context.randomSecret(kind.count))
        let digest = try deciding { () throws(CryptographyFailure) in
            try context.keys.lookup.digest(of: key.bytes, as: kind)
        }
        return (key, digest)
    }

    /// The application that has this API key; nothing for an unknown or revoked one.
    public func client(presenting key: Token) async throws(VerifierError) -> ClientRow? {
        let lookup = await ring().lookup
        let digest = try deciding { () throws(CryptographyFailure) in
            try lookup.digest(of: key.bytes, as: .clientKey)
        }
        let row = try await read { store throws(StoreFailure) in
            try await store.client(digest: digest)
        }
        return row.flatMap { $0.revokedAt == nil ? $0 : nil }
    }

    /// All applications, the oldest first, those that are revoked among them.
    public func clients() async throws(VerifierError) -> [ClientRow] {
        try await read { store throws(StoreFailure) in try await store.clients() }
    }

    /// Takes an application's API key its worth, at once and on every node.
    public func revokeClient(_ id: [UInt8]) async throws(VerifierError) -> ChangeOutcome {
        try await decide(.unknown, recorder: nil) { context throws(VerifierError) in
            guard let row = try await clients().first(where: { $0.id == id }) else {
                return Decision(outcome: .unknown, changes: [])
            }
            guard let revoked = row.afterRevoking(at: context.now) else {
                return Decision(outcome: .done, changes: [])
            }
            return Decision(
                outcome: .done,
                changes: [.updateClient(revoked), context.event(.clientRevoked, of: revoked)])
        }
    }
}

/// What came of renewing an application's API key.
public enum ClientRenewal: Sendable {
    /// The application as it is now, and its new key, which is handed out this once.
    case renewed(ClientRow, Token)
    /// There is no such application.
    case unknown
    /// It was revoked, which is final.
    case revoked
}

extension DecisionContext {
    /// An event about an application, which the event names as its client.
    fileprivate func event(_ kind: Event.Kind, of client: ClientRow) -> StoreChange {
        let origin = Origin(
            address: origin.address, userAgent: origin.userAgent,
            client: ClientID(bytes: client.id))
        return .appendEvent(
            Event(kind, time: now, verification: verification, origin: origin))
    }
}
