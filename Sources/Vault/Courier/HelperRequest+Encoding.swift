internal import WatchwordCryptography
internal import WatchwordSystem

extension HelperRequest {
    private enum Kind: UInt8 {
        case enrolment = 1
        case login, keyRegistration, challenge, signature, keyActivation
    }

    /// Appends the request in the form that is sent over the pipe.
    func encode(into buffer: WipedBuffer) {
        let fields = FieldWriter(buffer: buffer)
        fields.byte(HelperProtocol.version)
        fields.string(server.text)
        fields.string(authorities.span)
        fields.string(idempotencyKey)
        switch operation {
        case .enrolment(let ticket, let deviceName):
            fields.byte(Kind.enrolment.rawValue)
            fields.string(ticket)
            fields.string(deviceName)
        case .login(let login):
            fields.byte(Kind.login.rawValue)
            fields.string(login.credential.text)
            fields.string(login.secret)
            fields.string(login.nonce.bytes.span)
        case .keyRegistration(let registration):
            fields.byte(Kind.keyRegistration.rawValue)
            fields.string(registration.ticket)
            fields.string(registration.point.span)
            fields.string(registration.signature.span)
            fields.byte(registration.presence.rawValue)
            fields.byte(registration.isInTPM ? 1 : 0)
            fields.string(registration.deviceName)
            let parts = registration.attestation?.parts ?? []
            fields.byte(UInt8(parts.count))
            for part in parts { fields.string(part.span) }
        case .keyActivation(let credential, let secret):
            fields.byte(Kind.keyActivation.rawValue)
            fields.string(credential.text)
            fields.string(secret)
        case .challenge(let credential):
            fields.byte(Kind.challenge.rawValue)
            fields.string(credential.text)
        case .signature(let signature):
            fields.byte(Kind.signature.rawValue)
            fields.string(signature.credential.text)
            fields.string(signature.challenge.text)
            fields.byte(signature.confirmsText ? 1 : 0)
            fields.byte(signature.presence.rawValue)
            fields.string(signature.signature.span)
        }
    }

    /// Whether the request is within the limits of the protocol.
    var fits: Bool {
        guard authorities.count <= HelperProtocol.largestAuthorities else { return false }
        switch operation {
        case .enrolment(let ticket, let deviceName):
            return Token.isToken(ticket) && deviceName.utf8.count <= HelperProtocol.longestText
        case .login(let login):
            return Token.isToken(login.secret)
        case .keyRegistration(let registration):
            return Token.isToken(registration.ticket)
                && registration.deviceName.utf8.count <= HelperProtocol.longestText
                && registration.point.count <= HelperProtocol.longestKey
                && registration.signature.count <= HelperProtocol.longestKey
        case .keyActivation(_, let secret): return Token.isToken(secret)
        case .challenge: return true
        case .signature(let signature):
            return signature.signature.count <= HelperProtocol.longestKey
        }
    }

    /// Reads what ``encode(into:)`` writes; `nil` for anything else.
    public init?(parsing bytes: Span<UInt8>) {
        do { try self.init(reading: bytes) } catch { return nil }
    }

    private init(reading bytes: Span<UInt8>) throws(FieldReader.Unreadable) {
        var fields = FieldReader()
        guard try fields.byte(bytes) == HelperProtocol.version else {
            throw FieldReader.Unreadable()
        }
        let address = try fields.text(bytes)
        do { server = try ServerAddress(parsing: address) } catch {
            throw FieldReader.Unreadable()
        }
        let pem = try fields.string(bytes, limit: HelperProtocol.largestAuthorities)
        authorities = pem.map { bytes[$0] }
        idempotencyKey = try fields.token(bytes).text
        switch Kind(rawValue: try fields.byte(bytes)) {
        case .enrolment:
            let ticket = try fields.secret(bytes)
            operation = .enrolment(ticket: ticket, deviceName: try fields.text(bytes))
        case .login:
            let credential = try fields.token(bytes)
            let secret = try fields.secret(bytes)
            let range = try fields.string(bytes, limit: RotationNonce.count)
            guard let nonce = RotationNonce(range.map { bytes[$0] }) else {
                throw FieldReader.Unreadable()
            }
            operation = .login(Login(credential: credential, secret: secret, nonce: nonce))
        case .keyRegistration:
            operation = .keyRegistration(
                KeyRegistration(
                    ticket: try fields.secret(bytes), point: try fields.key(bytes),
                    signature: try fields.key(bytes), presence: try fields.presence(bytes),
                    isInTPM: try fields.flag(bytes), deviceName: try fields.text(bytes),
                    attestation: try fields.attestation(bytes)))
        case .keyActivation:
            let credential = try fields.token(bytes)
            operation = .keyActivation(
                credential: credential, secret: try fields.secret(bytes))
        case .challenge: operation = .challenge(credential: try fields.token(bytes))
        case .signature:
            let (credential, challenge) = (try fields.token(bytes), try fields.token(bytes))
            operation = .signature(
                KeySignature(
                    credential: credential, challenge: challenge,
                    confirmsText: try fields.flag(bytes), presence: try fields.presence(bytes),
                    signature: try fields.key(bytes)))
        case nil:
            throw FieldReader.Unreadable()
        }
        try fields.finish(bytes)
    }
}

extension FieldReader {
    fileprivate mutating func attestation(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> KeyAttestation? {
        let count = try byte(bytes)
        guard count > 0 else { return nil }
        var parts: [[UInt8]] = []
        for _ in 0..<count {
            parts.append(
                try string(bytes, limit: KeyAttestation.largestPart).map { bytes[$0] })
        }
        guard let attestation = KeyAttestation(parts: parts) else { throw Unreadable() }
        return attestation
    }

    fileprivate mutating func key(_ bytes: Span<UInt8>) throws(Unreadable) -> [UInt8] {
        try string(bytes, limit: HelperProtocol.longestKey).map { bytes[$0] }
    }

    fileprivate mutating func flag(_ bytes: Span<UInt8>) throws(Unreadable) -> Bool {
        switch try byte(bytes) {
        case 0: return false
        case 1: return true
        default: throw Unreadable()
        }
    }

    fileprivate mutating func presence(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> DeviceKeyTranscript.Presence {
        guard let presence = DeviceKeyTranscript.Presence(rawValue: try byte(bytes)) else {
            throw Unreadable()
        }
        return presence
    }
}
