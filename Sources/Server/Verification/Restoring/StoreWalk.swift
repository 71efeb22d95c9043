/// Walks through all rows of a store page by page, so that memory use does not depend on its size.
///
/// The store supplies the pages, in one transaction if all of them must show the same state.
public enum StoreWalk {
    /// The maximum number of rows per page.
    public static let limit = 1_000

    /// Passes all events to `take`, in order of position.
    ///
    /// - Parameter page: returns at most `limit` events after a position.
    public static func events<Failure: Error>(
        _ page: (_ position: UInt64, _ limit: Int) throws(Failure) -> [ChainedEvent],
        _ take: ([ChainedEvent]) throws(Failure) -> Void
    ) throws(Failure) {
        var position: UInt64 = 0
        while true {
            let events = try page(position, limit)
            guard let last = events.last else { return }
            try take(events)
            position = last.position
        }
    }

    /// Passes all credentials to `take`, in order of id.
    ///
    /// - Parameter page: returns at most `limit` rows, starting at an id; the id is empty for the
    ///   first page.
    public static func credentials<Failure: Error>(
        _ page: (_ id: [UInt8], _ limit: Int) throws(Failure) -> [CredentialRow],
        _ take: ([CredentialRow]) throws(Failure) -> Void
    ) throws(Failure) {
        try rows(page, key: \.id.bytes, take)
    }

    /// Passes all rows of a table to `take`, in order of key.
    ///
    /// - Parameter page: returns at most `limit` rows, starting at a key and including it. The
    ///   first page starts at the empty key, because an attacker may have written a row with that
    ///   key.
    public static func rows<Row, Failure: Error>(
        _ page: (_ key: [UInt8], _ limit: Int) throws(Failure) -> [Row], key: (Row) -> [UInt8],
        _ take: ([Row]) throws(Failure) -> Void
    ) throws(Failure) {
        var first: [UInt8] = []
        while true {
            let rows = try page(first, limit)
            guard let last = rows.last else { return }
            try take(rows)
            first = following(key(last))
        }
    }

    /// The smallest key after another one, in byte order.
    public static func following(_ key: [UInt8]) -> [UInt8] { key + [0] }
}

extension CredentialRow {
    /// Whether the credential has ended permanently.
    public var hasEnded: Bool { state == .revoked || state == .disabled }
}

extension ChainedEvent {
    /// The credential that this event ended; `nil` if it ended none.
    public var endedCredential: CredentialID? {
        guard let event, event.kind == .revoked || event.kind == .disabled else { return nil }
        return event.credential
    }
}

extension ClientRow {
    /// The row after revoking it at `now`; `nil` if it was already revoked.
    public func afterRevoking(at now: UnixTime) -> ClientRow? {
        guard revokedAt == nil else { return nil }
        return ClientRow(
            id: id, version: version + 1, digest: digest, name: name, scopes: scopes,
            createdAt: createdAt, revokedAt: now)
    }

    /// An event about the client, which ``Origin/client`` names.
    public func event(
        _ kind: Event.Kind, because reason: Event.Reason? = nil, at now: UnixTime
    ) -> Event {
        Event(
            kind, reason: reason, time: now,
            origin: Origin(address: "", client: ClientID(bytes: id)))
    }
}
