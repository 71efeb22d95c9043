internal import Courier
public import Devices
internal import WatchwordCryptography

/// A private key that is ready to sign.
protocol TranscriptSigner {
    /// The public key: 65 bytes.
    var point: [UInt8] { get }
    /// The data of the key that the vault stores.
    var holding: EnrolledKey.Holding { get }
    /// Signs a transcript, and nothing else.
    ///
    /// - Parameter person: enters the PIN of a key in a TPM, if the key has one.
    func sign(
        _ transcript: DeviceKeyTranscript, asking person: inout some TokenHelper.Person
    ) throws(DeviceLoginError) -> [UInt8]
    /// The TPM's evidence about the key, for a transcript; `nil` if the key is in no TPM.
    func attestation(
        for transcript: DeviceKeyTranscript, asking person: inout some TokenHelper.Person
    ) throws(DeviceLoginError) -> KeyAttestation?
}

/// A private key in this process.
struct SoftwareSigner: TranscriptSigner {
    private let key: SigningKey

    var point: [UInt8] { key.point }

    static func make() throws(DeviceLoginError) -> SoftwareSigner {
        SoftwareSigner(key: try DeviceLoginError.cryptography(in: SigningKey.make()))
    }

    private init(key: SigningKey) { self.key = key }

    init(scalar: SecretBytes) throws(DeviceLoginError) {
        do throws(CryptographyError) { key = try SigningKey(scalar: scalar) } catch {
            guard case .failed(let failure) = error else { throw .unreadable }
            throw .cryptography(failure)
        }
    }

    var holding: EnrolledKey.Holding { .vault(scalar: key.scalar) }

    func sign(
        _ transcript: DeviceKeyTranscript, asking person: inout some TokenHelper.Person
    ) throws(DeviceLoginError) -> [UInt8] {
        try DeviceLoginError.cryptography(in: key.sign(transcript.bytes.span))
    }

    func attestation(
        for transcript: DeviceKeyTranscript, asking person: inout some TokenHelper.Person
    ) -> KeyAttestation? { nil }
}

/// A private key in a TPM, which `watchword-token` uses.
struct TPMSigner: TranscriptSigner {
    let point: [UInt8]
    private let key: TPMKey
    private let authorization: SecretBytes
    private let tpm: TPMAccess

    /// Lets the TPM make a key.
    static func make(
        in tpm: TPMAccess, pin: SecretBytes?
    ) throws(DeviceLoginError) -> TPMSigner {
        let authorization = Randomness.secret(count: TPMKey.authorizationCount)
        var person = KnownPIN(value: pin)
        let result = try tpm.carryOut(
            .makeKey(authorization: authorization, pin: pin, in: tpm.address), asking: &person)
        guard case .madeKey(let key, let point) = result else { throw .token(.badHelperResponse) }
        return TPMSigner(key, point: point, authorization, in: tpm)
    }

    init(
        _ key: TPMKey, point: [UInt8], _ authorization: SecretBytes, in tpm: TPMAccess
    ) {
        self.key = key
        self.point = point
        self.authorization = authorization
        self.tpm = tpm
    }

    var holding: EnrolledKey.Holding { .tpm(key, authorization: authorization) }

    func sign(
        _ transcript: DeviceKeyTranscript, asking person: inout some TokenHelper.Person
    ) throws(DeviceLoginError) -> [UInt8] {
        let request = TokenRequest.sign(
            transcript.bytes, with: key, authorization: authorization, in: tpm.address)
        guard case .signature(let signature) = try tpm.carryOut(request, asking: &person)
        else { throw .token(.badHelperResponse) }
        // A wrong signature is never sent to a server.
        let isValid: Bool
        do {
            let key = try VerificationKey(.ellipticCurve(.p256, point: point), algorithm: .es256)
            isValid = try key.isValid(signature.span, of: transcript.bytes.span)
        } catch {
            isValid = false
        }
        guard isValid else { throw .token(.badHelperResponse) }
        return signature
    }

    func attestation(
        for transcript: DeviceKeyTranscript, asking person: inout some TokenHelper.Person
    ) throws(DeviceLoginError) -> KeyAttestation? {
        let request = TokenRequest.attest(
            key, for: transcript.bytes, authorization: authorization, in: tpm.address)
        guard case .attested(let attestation) = try tpm.carryOut(request, asking: &person)
        else { throw .token(.badHelperResponse) }
        return attestation
    }

    /// Lets the TPM reveal a secret that a server protected for it, and returns it in base64url.
    static func secret(
        protectedBy activation: KeyActivation, in tpm: TPMAccess
    ) throws(DeviceLoginError) -> SecretBytes {
        var nobody = KnownPIN(value: nil)
        let result = try tpm.carryOut(
            .activate(activation, in: tpm.address), asking: &nobody)
        guard case .secret(let secret) = result else { throw .token(.badHelperResponse) }
        return Base64URL.encode(secret)
    }
}

/// Answers with the PIN of a new key, if it has one.
struct KnownPIN: TokenHelper.Person {
    let value: SecretBytes?

    func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? { isRepeated ? nil : value }
    func touch(number: Int, of count: Int) {}
}

extension EnrolledKey {
    /// The key, ready to sign.
    ///
    /// - Parameter tpm: the TPM, for a key in a TPM.
    func signer(in tpm: TPMAccess) throws(DeviceLoginError) -> any TranscriptSigner {
        switch holding {
        case .vault(let scalar):
            let signer = try SoftwareSigner(scalar: scalar)
            guard signer.point == point else { throw .unreadable }
            return signer
        case .tpm(let key, let authorization):
            return TPMSigner(key, point: point, authorization, in: tpm)
        }
    }
}

extension ServerAddress {
    /// The scope in which a signature for this server is valid.
    func scope(
        _ presence: DeviceKeyTranscript.Presence
    ) throws(DeviceLoginError) -> DeviceKeyTranscript.Scope {
        // An address has at most 512 bytes.
        guard let scope = DeviceKeyTranscript.Scope(audience: audience, presence: presence) else {
            throw .unreadable
        }
        return scope
    }
}

/// A TPM, and the handler of requests to it.
public struct TPMAccess: Sendable {
    let address: TPMAddress
    private let handler: any TokenRequestHandler

    /// - Parameter handler: by default, a helper process that is started for each request.
    public init(
        _ address: TPMAddress, through handler: any TokenRequestHandler = StartedTokenHelper()
    ) {
        self.address = address
        self.handler = handler
    }

    func carryOut(
        _ request: TokenRequest, asking person: inout some TokenHelper.Person
    ) throws(DeviceLoginError) -> TokenResponse {
        do { return try handler.carryOut(request, with: &person) } catch { throw .token(error) }
    }
}

/// Looks for `watchword-token` at the first request.
public struct StartedTokenHelper: TokenRequestHandler {
    /// Creates a handler, which does not look for the program yet.
    public init() {}

    /// Carries out one request in a separate helper process.
    public func carryOut(
        _ request: TokenRequest, with person: inout some TokenHelper.Person
    ) throws(TokenFailure) -> TokenResponse {
        try TokenHelper().carryOut(request, with: &person)
    }
}
