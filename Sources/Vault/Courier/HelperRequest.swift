internal import WatchwordCoding
public import WatchwordCryptography
package import WatchwordSystem

/// A request to a server, with everything that the HTTP helper needs to send it.
public struct HelperRequest: Sendable {
    /// An operation of the server, with its arguments.
    public enum Operation: Sendable {
        /// Redeem an enrolment ticket; the account's owner recognises the device by its name. The
        /// custody of the secret is reported if the entry will be bound to the device.
        case enrolment(ticket: SecretBytes, deviceName: String, custody: SecretCustody? = nil)
        /// Sign in.
        case login(Login)
        /// Register the device key with this public key of 65 bytes, whose private key is in a TPM
        /// or in the vault.
        case keyRegistration(KeyRegistration, point: [UInt8], isInTPM: Bool)
        /// Complete the registration of an attested key, with the secret that the TPM revealed, in
        /// base64url.
        case keyActivation(credential: Token, secret: SecretBytes)
        /// Get a challenge for the device key of this credential.
        case challenge(credential: Token)
        /// Sign in, or confirm a text, with a device key.
        case signature(KeySignature)
        /// Any request of an application.
        case application(ApplicationRequest)

        /// The maximum length of the helper's response in bytes.
        var largestResponse: Int {
            guard case .application = self else { return HelperProtocol.largestResponse }
            return HelperProtocol.largestResponse + ApplicationRequest.largestContent
        }
    }

    /// A login with an enrolled secret.
    public struct Login: Sendable {
        /// The credential's public identifier.
        public let credential: Token
        /// The enrolled secret, a token.
        public let secret: SecretBytes
        /// The 16 bytes from which the server derives the next secret.
        public let nonce: RotationNonce

        /// Describes a login with an enrolled secret.
        public init(credential: Token, secret: SecretBytes, nonce: RotationNonce) {
            self.credential = credential
            self.secret = secret
            self.nonce = nonce
        }
    }

    /// The server that receives the request.
    public let server: TrustedServer
    /// The `Idempotency-Key`: the same for every attempt at a request, so that the server executes
    /// the request only once.
    public let idempotencyKey: String
    /// The application's API key, a token; `nil` for devices.
    public let apiKey: SecretBytes?
    /// The requested operation.
    public let operation: Operation

    /// Combines the parts of a request; the caller keeps them within the limits of the protocol.
    public init(
        server: TrustedServer, idempotencyKey: String, apiKey: SecretBytes? = nil,
        operation: Operation
    ) {
        self.server = server
        self.idempotencyKey = idempotencyKey
        self.apiKey = apiKey
        self.operation = operation
    }
}

/// The keeper of the device key to which an enrolled secret is bound.
public enum SecretCustody: String, CaseIterable, Sendable {
    /// A TPM of the device.
    case tpm
    /// The system agent.
    case agent
    /// A file that belongs to the user.
    case file
}

extension SecretCustody: Transferable {}

extension HelperRequest {
    /// The registration of a device key.
    ///
    /// The courier makes the same body from it each time, so that the server recognises a repeated
    /// request.
    public struct KeyRegistration: Sendable {
        /// The enrolment ticket, a token.
        public let ticket: SecretBytes
        /// The kind of presence check on the device.
        public let presence: DeviceKeyTranscript.Presence
        /// The device's name, as the account's owner will see it; may be empty.
        public let deviceName: String
        /// The signature over the transcript of the enrolment, in DER.
        public let signature: [UInt8]
        /// The TPM's evidence about the key, if the server is to check it.
        public let attestation: KeyAttestation?

        /// Describes a registration; the values are not checked here.
        public init(
            ticket: SecretBytes, presence: DeviceKeyTranscript.Presence, deviceName: String,
            signature: [UInt8], attestation: KeyAttestation? = nil
        ) {
            self.ticket = ticket
            self.presence = presence
            self.deviceName = deviceName
            self.signature = signature
            self.attestation = attestation
        }
    }

    /// A device key's response to a challenge.
    public struct KeySignature: Sendable {
        /// The credential's public identifier.
        public let credential: Token
        /// The challenge.
        public let challenge: Token
        /// `true` if the signature confirms a text, `false` if it signs in.
        public let confirmsText: Bool
        /// The kind of presence check that the device made.
        public let presence: DeviceKeyTranscript.Presence
        /// The signature in DER.
        public let signature: [UInt8]

        /// Describes a response; the values are not checked here.
        public init(
            credential: Token, challenge: Token, confirmsText: Bool,
            presence: DeviceKeyTranscript.Presence, signature: [UInt8]
        ) {
            self.credential = credential
            self.challenge = challenge
            self.confirmsText = confirmsText
            self.presence = presence
            self.signature = signature
        }
    }
}

extension HelperRequest: Transferable {
    package func write(to output: FrameWriter) {
        output.append(HelperProtocol.version, server.address)
        output.append(string: server.authorities.span)
        output.append(idempotencyKey, apiKey, operation)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        guard try fields.byte(bytes) == HelperProtocol.version else { throw Unreadable() }
        server = TrustedServer(
            try fields.value(bytes),
            authorities: try fields.data(bytes, limit: HelperProtocol.largestAuthorities))
        idempotencyKey = (try fields.value(bytes) as Token).text
        apiKey = try fields.flag(bytes) ? try fields.secretToken(bytes) : nil
        operation = try fields.value(bytes)
    }

    /// Whether the request is within the limits of the protocol.
    var fits: Bool {
        guard server.authorities.count <= HelperProtocol.largestAuthorities,
            apiKey.map(Token.isToken) ?? true
        else { return false }
        switch operation {
        case .enrolment(let ticket, let deviceName, _):
            return Token.isToken(ticket) && deviceName.utf8.count <= HelperProtocol.longestText
        case .login(let login):
            return Token.isToken(login.secret)
        case .keyRegistration(let registration, let point, _):
            return Token.isToken(registration.ticket)
                && registration.deviceName.utf8.count <= HelperProtocol.longestText
                && point.count <= HelperProtocol.longestKey
                && registration.signature.count <= HelperProtocol.longestKey
        case .keyActivation(_, let secret): return Token.isToken(secret)
        case .challenge: return true
        case .signature(let signature):
            return signature.signature.count <= HelperProtocol.longestKey
        case .application(let request): return request.isValid
        }
    }
}

extension HelperRequest.Operation: Transferable {
    private enum Kind: UInt8, Transferable {
        case enrolment, login, keyRegistration, keyActivation, challenge, signature, application
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .enrolment(let ticket, let deviceName, let custody):
            output.append(Kind.enrolment, ticket, deviceName, custody)
        case .login(let login): output.append(Kind.login, login)
        case .keyRegistration(let registration, let point, let isInTPM):
            output.append(Kind.keyRegistration, registration, point, isInTPM)
        case .keyActivation(let credential, let secret):
            output.append(Kind.keyActivation, credential, secret)
        case .challenge(let credential): output.append(Kind.challenge, credential)
        case .signature(let signature): output.append(Kind.signature, signature)
        case .application(let request): output.append(Kind.application, request)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .enrolment:
            self = .enrolment(
                ticket: try fields.secretToken(bytes), deviceName: try fields.deviceName(bytes),
                custody: try fields.value(bytes))
        case .login: self = try fields.make(Self.login, from: bytes)
        case .keyRegistration:
            self = .keyRegistration(
                try fields.value(bytes),
                point: try fields.data(bytes, limit: HelperProtocol.longestKey),
                isInTPM: try fields.value(bytes))
        case .keyActivation:
            self = .keyActivation(
                credential: try fields.value(bytes), secret: try fields.secretToken(bytes))
        case .challenge: self = try fields.make(Self.challenge, from: bytes)
        case .signature: self = try fields.make(Self.signature, from: bytes)
        case .application: self = try fields.make(Self.application, from: bytes)
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
        output.append(ticket, presence.rawValue, deviceName, signature, attestation)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        ticket = try fields.secretToken(bytes)
        presence = try fields.choice(bytes)
        deviceName = try fields.deviceName(bytes)
        signature = try fields.data(bytes, limit: HelperProtocol.longestKey)
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
