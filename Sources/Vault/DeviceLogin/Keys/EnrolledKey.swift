public import Courier
public import Devices
public import SecretVault
public import WatchwordCryptography
internal import WatchwordSystem

/// A device key as the vault keeps it: the server, and the data that signing requires.
public struct EnrolledKey: Sendable {
    /// The place of the private key.
    public enum Holding: Sendable {
        /// In the vault: the private scalar.
        case vault(scalar: SecretBytes)
        /// In a TPM, which needs the authorization value.
        case tpm(TPMKey, authorization: SecretBytes)

        /// Whether the private key is in a TPM.
        public var isInTPM: Bool {
            switch self {
            case .vault: false
            case .tpm: true
            }
        }

        /// Whether the TPM requires a PIN before each signature.
        public var requiresPIN: Bool {
            guard case .tpm(let key, _) = self else { return false }
            return key.requiresPIN
        }
    }

    /// The server that the key signs in to.
    public let server: TrustedServer
    /// The credential's public name; `nil` until the server has answered the registration.
    public let credential: Token?
    /// The time of the last change, in Unix seconds.
    public let changed: Int64
    /// The public key: 65 bytes.
    public let point: [UInt8]
    /// SHA-256 of the enrolment ticket, by which a repeated run recognises the key that it has
    /// made.
    let ticketDigest: [UInt8]
    /// The private key in the vault, or the data with which a TPM uses it.
    public let holding: Holding
    /// The registration, unless the server has answered it.
    ///
    /// The same registration is sent again until then, and is never signed again, because ECDSA
    /// signatures differ each time.
    let registration: HelperRequest.KeyRegistration?
    /// Whether the server has checked that the private key is in a TPM.
    public internal(set) var isAttested = false
    /// The stored form of the key that replaces this one as soon as the server has registered it.
    var next: SecretBytes?

    /// The state of the key after its registration.
    func registered(as credential: Token, isAttested: Bool, now: Int64) -> EnrolledKey {
        EnrolledKey(
            server: server, credential: credential, changed: now, point: point,
            ticketDigest: ticketDigest, holding: holding, registration: nil,
            isAttested: isAttested)
    }
}

extension EnrolledKey {
    /// Determines which of two stored states is newer: the registered state.
    static func order(of first: SecretBytes, _ second: SecretBytes) -> EnrolledOrder {
        guard let first = EnrolledKey(reading: first), let second = EnrolledKey(reading: second),
            first.server.address == second.server.address, first.point == second.point
        else { return .unrelated }
        switch (first.credential, second.credential) {
        case (nil, .some): return .second
        case (.some, nil): return .first
        default: return .same
        }
    }

    /// Parses the content of an enrolled entry.
    ///
    /// - Throws: ``DeviceLoginError/otherKind``, ``DeviceLoginError/unreadable``.
    public init(_ content: EntryContent) throws(DeviceLoginError) {
        guard case .enrolledSecret(_, _, let value) = content, EnrolledKey.isForm(value) else {
            throw .otherKind
        }
        guard let key = EnrolledKey(reading: value) else { throw .unreadable }
        self = key
    }
}

// The stored form, as `Sources/Vault/SecretVault/VaultFile.md` defines it.
extension EnrolledKey {
    private static let version: UInt8 = 2

    fileprivate enum Custody: UInt8 {
        case vault = 0
        case tpm = 1
        case tpmWithPIN = 2
        case attestedTPM = 3
        case attestedTPMWithPIN = 4

        init(requiresPIN: Bool, isAttested: Bool) {
            self =
                isAttested
                ? (requiresPIN ? .attestedTPMWithPIN : .attestedTPM)
                : (requiresPIN ? .tpmWithPIN : .tpm)
        }

        var requiresPIN: Bool { self == .tpmWithPIN || self == .attestedTPMWithPIN }
        var isAttested: Bool { self == .attestedTPM || self == .attestedTPMWithPIN }
    }

    /// The bytes are not a form of this version.
    typealias Unreadable = FieldReader.Unreadable

    /// The maximum size of a form without address, authorities and certificates.
    static let largestRest = 8 << 10

    /// Whether the bytes are a stored device key rather than an enrolled secret.
    static func isForm(_ form: SecretBytes) -> Bool {
        form.withBytes { !$0.isEmpty && $0[0] == version }
    }

    /// The bytes to store in the vault.
    func form() -> SecretBytes {
        let address = Array(server.address.text.utf8)
        let name = Array((credential?.text ?? "").utf8)
        let certificates = registration?.attestation?.certificates ?? []
        var capacity =
            EnrolledKey.largestRest + address.count + server.authorities.count
            + certificates.reduce(0) { $0 + 4 + $1.count }
        if let next { capacity += next.count }
        let form = SecretBytes(capacity: capacity) { output in
            output.append(EnrolledKey.version)
            output.append(string: address.span)
            output.append(string: server.authorities.span)
            output.append(string: name.span)
            output.append(UInt64(clamping: changed), bytes: 8)
            output.append(string: point.span)
            output.append(string: ticketDigest.span)
            write(holding, to: &output)
            guard let registration else {
                output.append(0, bytes: 4)
                // Only a registered key can have a replacement that is not registered yet.
                guard let next else { return }
                return next.withBytes { output.append(string: $0) }
            }
            registration.ticket.withBytes { output.append(string: $0) }
            output.append(registration.presence.rawValue)
            output.append(string: Array(registration.deviceName.utf8).span)
            output.append(string: registration.signature.span)
            output.append(UInt8(certificates.count))
            guard let attestation = registration.attestation else { return }
            for certificate in certificates { output.append(string: certificate.span) }
            output.append(string: attestation.endorsementKey.span)
            output.append(string: attestation.attestationKey.span)
            output.append(string: attestation.certification.span)
            output.append(string: attestation.signature.span)
        }
        return form
    }

    private func write(_ holding: Holding, to output: inout OutputSpan<UInt8>) {
        switch holding {
        case .vault(let scalar):
            output.append(Custody.vault.rawValue)
            scalar.withBytes { output.append(string: $0) }
        case .tpm(let key, let authorization):
            let custody = Custody(requiresPIN: key.requiresPIN, isAttested: isAttested)
            output.append(custody.rawValue)
            authorization.withBytes { output.append(string: $0) }
            output.append(UInt64(key.parent), bytes: 4)
            output.append(string: key.parentName.span)
            output.append(string: key.publicArea.span)
            output.append(string: key.privateArea.span)
        }
    }

    /// Parses the result of ``form()``; `nil` for anything else.
    init?(reading form: SecretBytes) {
        do throws(Unreadable) {
            self = try form.withBytes { bytes throws(Unreadable) in
                try EnrolledKey(parsing: bytes)
            }
        } catch {
            return nil
        }
    }

    private init(parsing bytes: Span<UInt8>) throws(Unreadable) {
        var fields = FieldReader(.bigEndian)
        guard try fields.byte(bytes) == EnrolledKey.version else { throw Unreadable() }
        guard let server = ServerAddress(try fields.text(bytes, limit: .max)) else {
            throw Unreadable()
        }
        let authorities = try fields.string(bytes, limit: .max).map { bytes[$0] }
        let name = try fields.text(bytes, limit: Token.longest)
        let credential = Token(name)
        guard credential != nil || name.isEmpty,
            let changed = Int64(exactly: try fields.number(bytes, width: 8))
        else { throw Unreadable() }
        let point = try fields.string(bytes, limit: EnrolledKey.pointCount).map { bytes[$0] }
        let ticketDigest = try fields.string(bytes, limit: EnrolledKey.digestCount)
            .map { bytes[$0] }
        let (holding, isAttested) = try fields.holding(bytes)
        let registration = try fields.registration(bytes, of: holding)
        var next: SecretBytes?
        if registration == nil, fields.position < bytes.count {
            next = SecretBytes(
                copying: bytes.extracting(try fields.string(bytes, limit: .max)))
        }
        try fields.finish(bytes)
        // The server has answered, or a registration remains to be sent, but not both.
        guard point.count == EnrolledKey.pointCount,
            ticketDigest.count == EnrolledKey.digestCount,
            (credential == nil) == (registration != nil)
        else {
            throw Unreadable()
        }
        self.init(
            server: TrustedServer(server, authorities: authorities), credential: credential,
            changed: changed, point: point, ticketDigest: ticketDigest, holding: holding,
            registration: registration, isAttested: isAttested, next: next)
    }

    private static let pointCount = 65
    private static let digestCount = 32
}

extension FieldReader {
    fileprivate mutating func holding(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> (EnrolledKey.Holding, isAttested: Bool) {
        guard let custody = EnrolledKey.Custody(rawValue: try byte(bytes)) else {
            throw Unreadable()
        }
        switch custody {
        case .vault:
            let range = try string(bytes, limit: SigningKey.scalarCount)
            guard range.count == SigningKey.scalarCount else { throw Unreadable() }
            return (.vault(scalar: SecretBytes(copying: bytes.extracting(range))), false)
        case .tpm, .tpmWithPIN, .attestedTPM, .attestedTPMWithPIN:
            let range = try string(bytes, limit: TPMKey.authorizationCount)
            let parent = UInt32(truncatingIfNeeded: try number(bytes, width: 4))
            let name = try string(bytes, limit: .max).map { bytes[$0] }
            let publicArea = try string(bytes, limit: .max).map { bytes[$0] }
            let privateArea = try string(bytes, limit: .max).map { bytes[$0] }
            let key = TPMKey(
                publicArea: publicArea, privateArea: privateArea, parent: parent, parentName: name,
                requiresPIN: custody.requiresPIN)
            guard range.count == TPMKey.authorizationCount, let key else { throw Unreadable() }
            let authorization = SecretBytes(copying: bytes.extracting(range))
            return (.tpm(key, authorization: authorization), custody.isAttested)
        }
    }

    fileprivate mutating func registration(
        _ bytes: Span<UInt8>, of holding: EnrolledKey.Holding
    ) throws(Unreadable) -> HelperRequest.KeyRegistration? {
        let range = try string(bytes, limit: Token.longest)
        guard !range.isEmpty else { return nil }
        let ticket = SecretBytes(copying: bytes.extracting(range))
        guard Token.isToken(ticket),
            let presence = DeviceKeyTranscript.Presence(rawValue: try byte(bytes))
        else { throw Unreadable() }
        let deviceName = try text(bytes, limit: Enrolment.longestDeviceName)
        let signature = try string(bytes, limit: EnrolledKey.longestSignature).map { bytes[$0] }
        return HelperRequest.KeyRegistration(
            ticket: ticket, presence: presence, deviceName: deviceName, signature: signature,
            attestation: try attestation(bytes, of: holding))
    }

    private mutating func attestation(
        _ bytes: Span<UInt8>, of holding: EnrolledKey.Holding
    ) throws(Unreadable) -> KeyAttestation? {
        let count = try byte(bytes)
        guard count > 0 else { return nil }
        guard case .tpm(let key, _) = holding else { throw Unreadable() }
        var certificates: [[UInt8]] = []
        for _ in 0..<count { certificates.append(try part(bytes)) }
        let (endorsementKey, attestationKey) = (try part(bytes), try part(bytes))
        let (certification, signature) = (try part(bytes), try part(bytes))
        let attestation = KeyAttestation(
            certificates: certificates, endorsementKey: endorsementKey,
            attestationKey: attestationKey, deviceKey: key.structure,
            certification: certification, signature: signature)
        guard let attestation else { throw Unreadable() }
        return attestation
    }

    private mutating func part(_ bytes: Span<UInt8>) throws(Unreadable) -> [UInt8] {
        try string(bytes, limit: KeyAttestation.largestCertificate).map { bytes[$0] }
    }
}

extension EnrolledKey {
    /// The maximum length of a signature in bytes.
    fileprivate static let longestSignature = 72
}
