/// An event, and the rows of credentials and clients that its commit wrote.
public struct RecordedEvent: Hashable, Sendable {
    /// The event without its rows.
    public let event: Event
    /// The rows as written by the commit; only in the first event of each commit.
    public let rows: [RowMark]

    /// Takes an event, and the rows if it is the first event of its commit.
    public init(_ event: Event, rows: [RowMark] = []) {
        self.event = event
        self.rows = rows
    }
}

/// The version of a row that was written.
///
/// An older row that was put back has a valid authentication code. An audit detects it, because
/// the events record a later version.
public struct RowMark: Hashable, Sendable {
    /// The owner of the row.
    public enum Owner: Hashable, Sendable {
        /// A credential, by its id.
        case credential(CredentialID)
        /// A client, by the primary key of its row.
        case client([UInt8])
    }

    /// The owner of the row.
    public let owner: Owner
    /// The version of the row.
    public let version: UInt64
    /// Whether the row may be pruned without an event: its credential is unconfirmed, or has ended
    /// and proves nothing.
    public let isPending: Bool
    /// The first bytes of the row's authentication code.
    public let code: UInt64

    /// The mark of a credential's row.
    ///
    /// - Parameter code: the row's authentication code.
    public init(_ row: CredentialRow, code: [UInt8]) {
        self.init(
            .credential(row.id), version: row.version,
            isPending: row.state == .pending || row.lapsesAt != nil, code: code)
    }

    /// The mark of a client's row.
    ///
    /// - Parameter code: the row's authentication code.
    public init(_ row: ClientRow, code: [UInt8]) {
        self.init(.client(row.id), version: row.version, isPending: false, code: code)
    }

    private init(_ owner: Owner, version: UInt64, isPending: Bool, code: [UInt8]) {
        self.owner = owner
        self.version = version
        self.isPending = isPending
        self.code = code.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension RecordedEvent {
    private static let format: UInt8 = 1

    /// The encoding in the database.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        event.write(into: &writer)
        writer.write(UInt16(rows.count))
        for row in rows { row.write(into: &writer, in: event) }
        return writer.bytes
    }

    /// Decodes a stored event; `nil` if the event is malformed or of a newer version.
    init?(decoding bytes: [UInt8]) {
        do throws(VerifierError) { try self.init(strictlyDecoding: bytes) } catch { return nil }
    }

    private init(strictlyDecoding bytes: [UInt8]) throws(VerifierError) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.format else { throw .damagedRow }
        event = try Event(from: &reader)
        var rows: [RowMark] = []
        for _ in 0..<(try reader.read(UInt16.self)) {
            rows.append(try RowMark(from: &reader, in: event))
        }
        self.rows = rows
        try reader.end()
    }
}

extension RowMark {
    private enum OwnerKind: UInt8 {
        /// The owner is the credential of the event itself, as in most events.
        case eventCredential, credential, client
    }

    fileprivate func write(into writer: inout ByteWriter, in event: Event) {
        switch owner {
        case .credential(let id) where id == event.credential:
            writer.write(OwnerKind.eventCredential.rawValue)
        case .credential(let id):
            writer.write(OwnerKind.credential.rawValue)
            writer.write(id.bytes)
        case .client(let id):
            writer.write(OwnerKind.client.rawValue)
            writer.write(id)
        }
        writer.write(version)
        writer.write(isPending)
        writer.write(code)
    }

    fileprivate init(
        from reader: inout ByteReader, in event: Event
    ) throws(VerifierError) {
        switch OwnerKind(rawValue: try reader.read()) {
        case .eventCredential?:
            guard let id = event.credential else { throw .damagedRow }
            owner = .credential(id)
        case .credential?:
            owner = .credential(try reader.readID())
        case .client?: owner = .client(try reader.readBytes())
        case nil: throw .damagedRow
        }
        version = try reader.read()
        isPending = try reader.readFlag()
        code = try reader.read()
    }
}
