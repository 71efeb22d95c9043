internal import Synchronization
internal import WatchwordCryptography

extension Verifier {
    /// Adds an application, with an API key that is shown only once.
    ///
    /// - Parameters:
    ///   - scopes: the permissions of the application; the service defines their meaning.
    ///   - subjects: the subjects to which the application is limited; `nil` for all subjects.
    public func addClient(
        named name: String, scopes: [String], limitedTo subjects: SubjectPrefix? = nil
    ) async throws(VerifierError) -> (client: ClientRow, key: Token)? {
        let name = name.prefix(bytes: ClientRow.maximumNameCount)
        return try await decide(.unknown, recorder: nil) { context throws(VerifierError) in
            // The store also enforces unique names: the slower of two concurrent calls conflicts
            // and then fails this check.
            guard try await !clients().contains(where: { $0.revokedAt == nil && $0.name == name })
            else { return Decision(outcome: nil, changes: []) }
            let (key, digest) = Self.newClientKey(context)
            let row = ClientRow(
                id: context.randomBytes(16), version: 1, digest: digest, name: name,
                scopes: Set(scopes).sorted(), createdAt: context.now, revokedAt: nil,
                subjects: subjects)
            return Decision(
                outcome: (client: row, key: key),
                changes: [.insertClient(row), context.event(.clientAdded, of: row)])
        }
    }

    /// Replaces an application's API key.
    ///
    /// The old key stops working at once, on every node.
    ///
    /// The id stays the same, so the application can still redeem the logins of devices that it
    /// enrolled. A revocation is final: a revoked application cannot be renewed.
    public func renewClient(_ id: [UInt8]) async throws(VerifierError) -> ClientRenewal {
        try await decide(.unknown, recorder: nil) { context throws(VerifierError) in
            guard let row = try await clients().first(where: { $0.id == id }) else {
                return Decision(outcome: .unknown, changes: [])
            }
            guard row.revokedAt == nil else { return Decision(outcome: .revoked, changes: []) }
            let (key, digest) = Self.newClientKey(context)
            let renewed = ClientRow(
                id: row.id, version: row.version + 1, digest: digest, name: row.name,
                scopes: row.scopes, createdAt: row.createdAt, revokedAt: nil,
                subjects: row.subjects)
            return Decision(
                outcome: .renewed(renewed, key),
                changes: [.updateClient(renewed), context.event(.clientRenewed, of: renewed)])
        }
    }

    private static func newClientKey(_ context: DecisionContext) -> (key: Token, digest: [UInt8]) {
        let kind = Token.Kind.clientKey
        let secret = context.randomSecret(kind.count - LookupKey.clientKeyMarkCount)
        let bytes = context.keys.lookup.marking(clientKey: secret)
        let digest = context.keys.lookup.digest(of: bytes, as: kind)
        return (Token(kind, bytes), digest)
    }

    /// The application with this API key; `nil` if the key is unknown or revoked.
    ///
    /// A key with a wrong mark costs no read. An older version may have issued a key without a
    /// mark.
    ///
    /// - Parameter isLimited: whether the sender has sent too many invalid keys. Keys without a
    ///   mark are then compared with the keys of all applications, which are read once a second.
    public func client(
        presenting key: Token, isLimited: Bool = false
    ) async throws(VerifierError) -> ClientRow? {
        let lookup = await ring().lookup
        let isMarked = key.bytes.count == Token.Kind.clientKey.count
        let isRight = isMarked ? lookup.isMarked(clientKey: key.bytes) : true
        guard isRight else { return nil }
        let digest = lookup.digest(of: key.bytes, as: .clientKey)
        if isLimited, !isMarked, await !unmarkedKeys.mayContain(digest, in: self) { return nil }
        let row = try await VerifierError.store(in: await store.client(digest: digest))
        return row.flatMap { $0.revokedAt == nil ? $0 : nil }
    }

    /// All applications, oldest first, including revoked ones.
    public func clients() async throws(VerifierError) -> [ClientRow] {
        try await VerifierError.store(in: await store.clients())
    }

    /// Revokes an application's API key, at once and on every node.
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

/// The outcome of renewing an application's API key.
public enum ClientRenewal: Sendable {
    /// The updated application and its new key, which is returned only once.
    case renewed(ClientRow, Token)
    /// No application has this id.
    case unknown
    /// The application was revoked, and a revocation is final.
    case revoked
}

extension DecisionContext {
    /// Makes the change that records an event about an application.
    fileprivate func event(_ kind: Event.Kind, of client: ClientRow) -> StoreChange {
        let origin = Origin(
            address: origin.address, userAgent: origin.userAgent,
            client: ClientID(bytes: client.id))
        return .appendEvent(
            Event(kind, time: now, verification: verification, origin: origin))
    }
}

/// The digests of all active API keys, read at most once a second, so that a sender of many made-up
/// keys without a mark cannot cause a database read for each key.
///
/// No such key is issued any more, so even an old list contains all such keys. The list only
/// excludes keys from the lookup: a key in the list is looked up as usual.
final class UnmarkedKeys: Sendable {
    private struct Content {
        var digests: Set<[UInt8]>?
        var readAt: UnixTime?
    }

    private let content = Mutex(Content())

    private static let lifetime: Int64 = 1_000

    /// Whether a key with this digest may exist.
    func mayContain(_ digest: [UInt8], in verifier: Verifier) async -> Bool {
        let now = verifier.now
        let (known, isDue) = content.withLock { content in
            let isDue =
                content.readAt.map { read in
                    abs(now.milliseconds(since: read)) >= Self.lifetime
                } ?? true
            if isDue { content.readAt = now }
            return (content.digests, isDue)
        }
        guard isDue else { return known?.contains(digest) ?? true }
        do throws(VerifierError) {
            let active = try await verifier.clients().filter { $0.revokedAt == nil }
            let digests = Set(active.map(\.digest))
            content.withLock { $0.digests = digests }
            return digests.contains(digest)
        } catch {
            // The lookup itself reports the failure.
            return true
        }
    }
}
