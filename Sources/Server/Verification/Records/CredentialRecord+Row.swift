extension CredentialRecord {
    /// The record as the next version of its row.
    package var row: CredentialRow {
        CredentialRow(
            id: id, subject: subject, kind: kind, state: state, version: version + 1,
            keyID: keyID, fingerprint: fingerprint, createdAt: createdAt, lapsesAt: lapsesAt,
            body: body)
    }

    /// A row that nobody has, for dummy work.
    static let nobody: CredentialRow = {
        guard let id = CredentialID(bytes: [UInt8](repeating: 0, count: CredentialID.count)),
            let subject = Subject("nobody")
        else { preconditionFailure("the id and the subject are valid") }
        let start = UnixTime(seconds: 0)
        let digest = [UInt8](repeating: 0, count: 32)
        return CredentialRecord(
            id: id, subject: subject, kind: .secret, createdAt: start, origin: .unknown,
            state: .active, name: "", confirmedAt: start, lastUsedAt: start,
            material: .secret(SecretChain(digest: digest, at: start))
        ).row
    }()

    /// The body, encoded with ``ByteWriter``.
    ///
    /// Format (1, or 2 with the client that enrolled it); name, address and user agent of the
    /// enrolment; in format 2, the client; the number of clients that may
    /// redeem its logins, and their ids; the times of confirmation, last use and end, each
    /// optional; the reason for the end, optional; the number of failures; the last failure of a
    /// stranger, optional; the length of the wait; then the verifier's material: one byte for its
    /// kind, and its own fields. The row of a one-time password ends with the rest of its throttle
    /// and the known devices, which rows of earlier versions lack.
    private var body: [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(enroller == nil ? 1 : 2))
        writer.write(name)
        writer.write(origin.address)
        writer.write(origin.userAgent)
        if let enroller { writer.write(enroller.bytes) }
        writer.write(UInt8(audience.count))
        for client in audience { writer.write(client.bytes) }
        for time in [confirmedAt, lastUsedAt, endedAt] {
            writer.writeOptional(time) { $0.write($1) }
        }
        writer.writeOptional(endReason) { $0.write($1.rawValue) }
        throttle.write(into: &writer)
        switch material {
        case .none: writer.write(UInt8(0))
        case .time(let password):
            writer.write(UInt8(1))
            password.write(into: &writer)
        case .counter(let password):
            writer.write(UInt8(2))
            password.write(into: &writer)
        case .recovery(let set):
            writer.write(UInt8(3))
            set.write(into: &writer)
        case .secret(let chain):
            writer.write(UInt8(4))
            chain.write(into: &writer)
        case .pendingPasskey(let passkey):
            writer.write(UInt8(5))
            writer.write(false)
            passkey.write(into: &writer)
        case .passkey(let passkey):
            writer.write(UInt8(5))
            writer.write(true)
            passkey.write(into: &writer)
        case .deviceKey(let key):
            writer.write(UInt8(6))
            writer.write(true)
            key.write(into: &writer)
        case .pendingDeviceKey(let key):
            writer.write(UInt8(6))
            writer.write(false)
            key.write(into: &writer)
        }
        if isOneTimePassword {
            throttle.writeRest(into: &writer)
            devices.write(into: &writer)
        }
        return writer.bytes
    }

    /// Reads a stored row.
    ///
    /// - Throws: ``VerifierError/damagedRow``.
    package init(_ row: CredentialRow) throws(VerifierError) {
        var reader = ByteReader(row.body)
        let format = try reader.read(UInt8.self)
        guard (1...2).contains(format) else { throw .damagedRow }
        id = row.id
        subject = row.subject
        kind = row.kind
        state = row.state
        version = row.version
        keyID = row.keyID
        fingerprint = row.fingerprint
        createdAt = row.createdAt
        lapsesAt = row.lapsesAt
        name = try reader.readText()
        origin = Origin(address: try reader.readText(), userAgent: try reader.readText())
        if format == 2 {
            guard let client = ClientID(bytes: try reader.readBytes()) else { throw .damagedRow }
            enroller = client
        }
        for _ in 0..<(try reader.read(UInt8.self)) {
            guard let client = ClientID(bytes: try reader.readBytes()) else { throw .damagedRow }
            audience.append(client)
        }
        confirmedAt = try reader.readOptionalTime()
        lastUsedAt = try reader.readOptionalTime()
        endedAt = try reader.readOptionalTime()
        endReason = try reader.readOptional { reader throws(VerifierError) in
            guard let reason = Event.Reason(rawValue: try reader.readText()) else {
                throw .damagedRow
            }
            return reason
        }
        throttle = try Throttle(from: &reader)
        // The kind is stored twice, so that a row whose kind was changed is refused.
        switch (try reader.read(UInt8.self), row.kind) {
        case (0, _): material = .none
        case (1, .totp): material = .time(try TOTPState(from: &reader))
        case (2, .hotp): material = .counter(try HOTPState(from: &reader))
        case (3, .recovery): material = .recovery(try RecoverySet(from: &reader))
        case (4, .secret): material = .secret(try SecretChain(from: &reader))
        case (5, .passkey):
            material =
                try reader.readFlag()
                ? .passkey(try PasskeyState(from: &reader))
                : .pendingPasskey(try PendingPasskey(from: &reader))
        case (6, .key):
            material =
                try reader.readFlag()
                ? .deviceKey(try DeviceKeyState(from: &reader))
                : .pendingDeviceKey(try PendingDeviceKey(from: &reader))
        default: throw .damagedRow
        }
        if isOneTimePassword, !reader.isAtEnd {
            try throttle.readRest(from: &reader)
            devices = try KnownDevices(from: &reader)
        }
        try reader.end()
    }
}

extension ByteReader {
    mutating func readOptionalTime() throws(VerifierError) -> UnixTime? {
        try readOptional { reader throws(VerifierError) in try reader.readTime() }
    }
}
