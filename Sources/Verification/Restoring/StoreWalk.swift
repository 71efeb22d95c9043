/// Goes through all that a store has of something, a page at a time, so that its size does not count.
///
/// The store gives the pages, inside a transaction of its own where all has to be of one moment.
public enum StoreWalk {
    /// The most rows of a page.
    public static let limit = 1_000

    /// Hands over all events, in the order of their positions.
    ///
    /// - Parameter page: the first events from behind a position on, at most so many.
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

    /// Hands over all credentials, in the order of their ids.
    ///
    /// - Parameter page: the first rows from an id's bytes on, which are none at the beginning.
    public static func credentials<Failure: Error>(
        _ page: (_ id: [UInt8], _ limit: Int) throws(Failure) -> [CredentialRow],
        _ take: ([CredentialRow]) throws(Failure) -> Void
    ) throws(Failure) {
        try rows(page, key: \.id.bytes, take)
    }

    /// Hands over all rows of a table, in the order of their keys.
    ///
    /// - Parameter page: the first rows from a key on, the row with that key included; the key is empty at
    ///   the beginning, and somebody may have written a row with an empty key.
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

    /// The least key behind another one, in the order of their bytes.
    public static func following(_ key: [UInt8]) -> [UInt8] { key + [0] }
}

extension CredentialRow {
    /// Whether it accepts nothing any more, for good.
    public var hasEnded: Bool { state == .revoked || state == .disabled }
}

extension ChainedEvent {
    /// The credential that ended by it, if one did.
    public var endedCredential: CredentialID? {
        guard let event, event.kind == .revoked || event.kind == .disabled else { return nil }
        return event.credential
    }
}

extension ClientRow {
    /// The row once it is revoked at `now`; what may not ask any more stays as it is.
    public func afterRevoking(at now: UnixTime) -> ClientRow? {
        guard revokedAt == nil else { return nil }
        return ClientRow(
            id: id, version: version + 1, digest: digest, name: name, scopes: scopes,
            createdAt: createdAt, revokedAt: now)
    }

    /// What is told of the client; in ``Origin/client`` it is named.
    public func event(
        _ kind: Event.Kind, because reason: Event.Reason? = nil, at now: UnixTime
    ) -> Event {
        Event(
            kind, reason: reason, time: now,
            origin: Origin(address: "", client: ClientID(bytes: id)))
    }
}
