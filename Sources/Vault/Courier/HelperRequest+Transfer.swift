internal import WatchwordCoding
internal import WatchwordCryptography
package import WatchwordSystem

extension HelperRequest: Transferable {
    package func write(to output: FrameWriter) {
        output.append(HelperProtocol.version, server)
        output.append(string: authorities.span)
        output.append(idempotencyKey, operation)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        guard try fields.byte(bytes) == HelperProtocol.version else { throw Unreadable() }
        server = try fields.value(bytes)
        authorities = try fields.data(bytes, limit: HelperProtocol.largestAuthorities)
        idempotencyKey = (try fields.value(bytes) as Token).text
        operation = try fields.value(bytes)
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
}

extension HelperRequest.Operation: Transferable {
    private enum Kind: UInt8, Transferable {
        case enrolment, login, keyRegistration, keyActivation, challenge, signature
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .enrolment(let ticket, let deviceName):
            output.append(Kind.enrolment, ticket, deviceName)
        case .login(let login): output.append(Kind.login, login)
        case .keyRegistration(let registration):
            output.append(Kind.keyRegistration, registration)
        case .keyActivation(let credential, let secret):
            output.append(Kind.keyActivation, credential, secret)
        case .challenge(let credential): output.append(Kind.challenge, credential)
        case .signature(let signature): output.append(Kind.signature, signature)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .enrolment:
            self = .enrolment(
                ticket: try fields.secretToken(bytes), deviceName: try fields.deviceName(bytes))
        case .login: self = try fields.make(Self.login, from: bytes)
        case .keyRegistration: self = try fields.make(Self.keyRegistration, from: bytes)
        case .keyActivation:
            self = .keyActivation(
                credential: try fields.value(bytes), secret: try fields.secretToken(bytes))
        case .challenge: self = try fields.make(Self.challenge, from: bytes)
        case .signature: self = try fields.make(Self.signature, from: bytes)
        }
    }
}

extension HelperRequest.Login: Transferable {
    package func write(to output: FrameWriter) {
        output.append(credential, secret, nonce.bytes)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        credential = try fields.value(bytes)
        secret = try fields.secretToken(bytes)
        let random = try fields.data(bytes, limit: RotationNonce.count)
        guard let nonce = RotationNonce(random) else { throw Unreadable() }
        self.nonce = nonce
    }
}

extension HelperRequest.KeyRegistration: Transferable {
    package func write(to output: FrameWriter) {
        output.append(
            ticket, point, signature, presence.rawValue, isInTPM, deviceName, attestation)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        ticket = try fields.secretToken(bytes)
        point = try fields.data(bytes, limit: HelperProtocol.longestKey)
        signature = try fields.data(bytes, limit: HelperProtocol.longestKey)
        presence = try fields.choice(bytes)
        isInTPM = try fields.value(bytes)
        deviceName = try fields.deviceName(bytes)
        attestation = try fields.value(bytes)
    }
}

extension HelperRequest.KeySignature: Transferable {
    package func write(to output: FrameWriter) {
        output.append(credential, challenge, confirmsText, presence.rawValue, signature)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        credential = try fields.value(bytes)
        challenge = try fields.value(bytes)
        confirmsText = try fields.value(bytes)
        presence = try fields.choice(bytes)
        signature = try fields.data(bytes, limit: HelperProtocol.longestKey)
    }
}

extension FieldReader {
    fileprivate mutating func deviceName(_ bytes: Span<UInt8>) throws(Unreadable) -> String {
        try text(bytes, limit: HelperProtocol.longestText)
    }
}

extension Token: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        guard let token = Token(try fields.text(bytes, limit: Token.longest)) else {
            throw Unreadable()
        }
        self = token
    }
}
