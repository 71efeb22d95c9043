extension Event {
    /// Writes every field.
    ///
    /// Each event has exactly one encoding.
    func write(into writer: inout ByteWriter) {
        writer.write(kind.rawValue)
        writer.writeIfThere(reason) { $0.write($1.rawValue) }
        writer.write(time)
        writer.writeIfThere(subject) { $0.write($1.utf8) }
        writer.writeIfThere(credential) { $0.write($1.bytes) }
        writer.writeIfThere(verification) { $0.write($1.bytes) }
        writer.write(origin.address)
        writer.write(origin.userAgent)
        writer.writeIfThere(origin.client) { $0.write($1.bytes) }
        writer.writeIfThere(number) { $0.write($1) }
    }

    init(from reader: inout ByteReader) throws(ByteReaderError) {
        guard let kind = Kind(rawValue: try reader.readText()) else { throw .malformed }
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
        let (address, userAgent) = (try reader.readText(), try reader.readText())
        let client = try reader.readIfThere { reader throws(ByteReaderError) in
            guard let id = ClientID(bytes: try reader.readBytes()) else { throw .malformed }
            return id
        }
        origin = Origin(address: address, userAgent: userAgent, client: client)
        number = try reader.readIfThere { reader throws(ByteReaderError) in try reader.read() }
    }
}
