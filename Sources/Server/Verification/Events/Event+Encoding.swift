extension Event {
    /// Writes every field.
    ///
    /// Each event has exactly one encoding.
    func write(into writer: inout ByteWriter) {
        writer.write(kind.rawValue)
        writer.writeOptional(reason) { $0.write($1.rawValue) }
        writer.write(time)
        writer.writeOptional(subject) { $0.write($1.utf8) }
        writer.writeOptional(credential) { $0.write($1.bytes) }
        writer.writeOptional(verification) { $0.write($1.bytes) }
        writer.write(origin.address)
        writer.write(origin.userAgent)
        writer.writeOptional(origin.client) { $0.write($1.bytes) }
        writer.writeOptional(number) { $0.write($1) }
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        guard let kind = Kind(rawValue: try reader.readText()) else { throw .malformed }
        self.kind = kind
        reason = try reader.readOptional { reader throws(ByteReaderError) in
            guard let reason = Reason(rawValue: try reader.readText()) else { throw .malformed }
            return reason
        }
        time = try reader.readTime()
        subject = try reader.readOptional { reader throws(ByteReaderError) in
            guard let subject = Subject(utf8: try reader.readBytes()) else { throw .malformed }
            return subject
        }
        credential = try reader.readOptional { reader throws(ByteReaderError) in
            guard let id = CredentialID(bytes: try reader.readBytes()) else { throw .malformed }
            return id
        }
        verification = try reader.readOptional { reader throws(ByteReaderError) in
            guard let id = VerificationID(bytes: try reader.readBytes()) else { throw .malformed }
            return id
        }
        let (address, userAgent) = (try reader.readText(), try reader.readText())
        let client = try reader.readOptional { reader throws(ByteReaderError) in
            guard let id = ClientID(bytes: try reader.readBytes()) else { throw .malformed }
            return id
        }
        origin = Origin(address: address, userAgent: userAgent, client: client)
        number = try reader.readOptional { reader throws(ByteReaderError) in try reader.read() }
    }
}
