/// An event together with the credentials' rows that its commit wrote.
public struct RecordedEvent: Hashable, Sendable {
    /// What happened.
    public let event: Event
    /// The rows, as they were from then on; in the first event of each commit.
    public let rows: [RowMark]

    /// Puts an event and its rows together.
    public init(_ event: Event, rows: [RowMark] = []) {
        self.event = event
        self.rows = rows
    }
}

/// Which version of a credential's row was written.
///
/// An older version that is put back is authentic by itself. It is found because the events name a
/// later one.
public struct RowMark: Hashable, Sendable {
    /// Whose row.
    public let credential: CredentialID
    /// Its version.
    public let version: UInt64
    /// Whether the credential waits for its confirmation; such a row may be pruned without an event.
    public let isPending: Bool
    /// The first bytes of the row's authentication code.
    public let code: UInt64

    /// Marks a row.
    ///
    /// - Parameter code: the row's authentication code.
    public init(_ row: CredentialRow, code: [UInt8]) {
        credential = row.id
        version = row.version
        isPending = row.state == .pending
        self.code = code.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension RecordedEvent {
    private static let format: UInt8 = 1

    /// The event as a store keeps it.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        event.write(into: &writer)
        writer.write(UInt16(rows.count))
        for row in rows { row.write(into: &writer, in: event) }
        return writer.bytes
    }

    /// Reads a stored event; nothing when it is none, or one of a newer version.
    init?(decoding bytes: [UInt8]) {
        do throws(ByteReaderError) { try self.init(strictlyDecoding: bytes) } catch { return nil }
    }

    private init(strictlyDecoding bytes: [UInt8]) throws(ByteReaderError) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.format else { throw .malformed }
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
    // Most events write the row of the credential that they name.
    fileprivate func write(into writer: inout ByteWriter, in event: Event) {
        writer.writeIfThere(credential == event.credential ? nil : credential) {
            $0.write($1.bytes)
        }
        writer.write(version)
        writer.write(isPending)
        writer.write(code)
    }

    fileprivate init(
        from reader: inout ByteReader, in event: Event
    ) throws(ByteReaderError) {
        let other = try reader.readIfThere { reader throws(ByteReaderError) in
            guard let id = CredentialID(bytes: try reader.readBytes()) else { throw .malformed }
            return id
        }
        guard let credential = other ?? event.credential else { throw .malformed }
        self.credential = credential
        version = try reader.read()
        isPending = try reader.readFlag()
        code = try reader.read()
    }
}
