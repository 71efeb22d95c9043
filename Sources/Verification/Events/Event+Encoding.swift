extension Event {
    /// The event as a store keeps it; every event has one encoding.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(kind.rawValue)
        writer.writeIfThere(reason) { $0.write($1.rawValue) }
        writer.write(time)
        writer.writeIfThere(subject) { $0.write($1.utf8) }
        writer.writeIfThere(credential) { $0.write($1.bytes) }
        writer.writeIfThere(verification) { $0.write($1.bytes) }
        writer.write(origin.address)
        writer.write(origin.userAgent)
        writer.writeIfThere(number) { $0.write($1) }
        return writer.bytes
    }

    /// Reads a stored event; nothing when it is none, or one of a newer version.
    init?(decoding bytes: [UInt8]) {
        do throws(ByteReaderError) { try self.init(strictlyDecoding: bytes) } catch { return nil }
    }

    private static let format: UInt8 = 1

    private init(strictlyDecoding bytes: [UInt8]) throws(ByteReaderError) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.format,
            let kind = Kind(rawValue: try reader.readText())
        else { throw .malformed }
        self.kind = kind
        reason = try reader.readIfThere { reader throws(ByteReaderError) in
            guard let reason = Reason(rawValue: try reader.readText()) else { throw .malformed }
            return reason
        }
        time = try reader.readTime()
        subject = try reader.readIfThere { reader throws(ByteReaderError) in
            guard let subject = Subject(utf8: try reader.readBytes()) else { throw .malformed }
            return subject
        }
        credential = try reader.readIfThere { reader throws(ByteReaderError) in
            guard let id = CredentialID(bytes: try reader.readBytes()) else { throw .malformed }
            return id
        }
        verification = try reader.readIfThere { reader throws(ByteReaderError) in
            guard let id = VerificationID(bytes: try reader.readBytes()) else { throw .malformed }
            return id
        }
        origin = Origin(address: try reader.readText(), userAgent: try reader.readText())
        number = try reader.readIfThere { reader throws(ByteReaderError) in try reader.read() }
        try reader.end()
    }
}
