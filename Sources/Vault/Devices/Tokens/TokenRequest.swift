public import WatchwordCryptography
internal import WatchwordSystem

/// What a device is asked to do, in one run of the helper process.
public enum TokenRequest: Sendable {
    /// Seal a secret, and verify that it can be unsealed.
    case seal(SecretBytes, pin: SecretBytes?, isBoundToPCR7: Bool, in: TPMAddress)
    /// Unseal a secret.
    case unseal(TPMObject, in: TPMAddress)
    /// Make a key pair in a TPM, which can be used with this authorization value, and the PIN if
    /// there is one.
    case makeKey(authorization: SecretBytes, pin: SecretBytes?, in: TPMAddress)
    /// Sign a message with a key in a TPM.
    case sign([UInt8], with: TPMKey, authorization: SecretBytes, in: TPMAddress)
    /// Let a TPM attest a key that it has made, for a message.
    case attest(TPMKey, for: [UInt8], authorization: SecretBytes, in: TPMAddress)
    /// Reveal the secret that a server protected for an attested TPM.
    case activate(KeyActivation, in: TPMAddress)
    /// Make a credential on the device at this path (by default, the only one), and get its secret.
    case makeCredential(device: String?, salt: [UInt8], requiresPIN: Bool)
    /// Get the secret of a credential.
    case secret(of: FIDOCredential, device: String?)

    /// The number of bytes of a sealed secret.
    package static let secretCount = 32
    /// The maximum size of a PIN in bytes: that of a TPM with SHA-256, and less than that of an
    /// authenticator (63).
    package static let longestPIN = 32
    /// The maximum size of an authenticator's PIN in bytes.
    package static let longestAuthenticatorPIN = 63
    static let longestPath = 255
    /// The maximum size of a request's frame in bytes.
    package static let largestFrame = 4096
}

extension TokenRequest {
    private enum Kind: UInt8 {
        case seal = 1
        case unseal = 2
        case makeCredential = 3
        case secret = 4
        case makeKey = 5
        case sign = 6
        case attest = 7
        case activate = 8
    }

    /// Appends the request to a frame.
    func encode(into frame: WipedBuffer) {
        func byte(_ value: UInt8) { frame.append { $0.append(value) } }
        func string(_ bytes: some Collection<UInt8>) {
            let bytes = Array(bytes)
            frame.append { $0.append(string: bytes.span) }
        }
        func secret(_ secret: SecretBytes?) {
            guard let secret else { return string([]) }
            secret.withBytes { bytes in frame.append { $0.append(string: bytes) } }
        }
        switch self {
        case .seal(let bytes, let pin, let isBoundToPCR7, let address):
            byte(Kind.seal.rawValue)
            secret(bytes)
            secret(pin)
            byte(isBoundToPCR7 ? 1 : 0)
            string(address.text.utf8)
        case .unseal(let object, let address):
            byte(Kind.unseal.rawValue)
            string(object.publicArea)
            string(object.privateArea)
            byte(object.requiresPIN ? 1 : 0)
            byte(object.isBoundToPCR7 ? 1 : 0)
            string(address.text.utf8)
        case .makeKey(let authorization, let pin, let address):
            byte(Kind.makeKey.rawValue)
            secret(authorization)
            secret(pin)
            string(address.text.utf8)
        case .sign(let message, let key, let authorization, let address):
            byte(Kind.sign.rawValue)
            string(message)
            frame.append { $0.append(key) }
            secret(authorization)
            string(address.text.utf8)
        case .attest(let key, let message, let authorization, let address):
            byte(Kind.attest.rawValue)
            string(message)
            frame.append { $0.append(key) }
            secret(authorization)
            string(address.text.utf8)
        case .activate(let activation, let address):
            byte(Kind.activate.rawValue)
            string(activation.blob)
            string(activation.seed)
            string(address.text.utf8)
        case .makeCredential(let device, let salt, let requiresPIN):
            byte(Kind.makeCredential.rawValue)
            string((device ?? "").utf8)
            string(salt)
            byte(requiresPIN ? 1 : 0)
        case .secret(let credential, let device):
            byte(Kind.secret.rawValue)
            string(credential.id)
            string(credential.salt)
            string(credential.relyingParty.utf8)
            byte(credential.requiresPIN ? 1 : 0)
            string((device ?? "").utf8)
        }
    }

    /// Parses a frame without its count; `nil` if it breaks the protocol.
    package init?(parsing frame: Span<UInt8>) {
        do { try self.init(reading: frame) } catch { return nil }
    }

    private init(reading frame: Span<UInt8>) throws(FieldReader.Unreadable) {
        var fields = FieldReader(.bigEndian)
        guard let kind = Kind(rawValue: try fields.byte(frame)) else {
            throw FieldReader.Unreadable()
        }
        switch kind {
        case .seal:
            let secret = try fields.secret(frame, limit: TokenRequest.secretCount)
            let pin = try fields.secret(frame, limit: TokenRequest.longestPIN)
            let isBoundToPCR7 = try fields.flag(frame)
            self = .seal(
                secret, pin: pin.count > 0 ? pin : nil, isBoundToPCR7: isBoundToPCR7,
                in: try fields.address(frame))
        case .unseal:
            let object = try fields.object(frame)
            self = .unseal(object, in: try fields.address(frame))
        case .makeKey:
            let authorization = try fields.secret(frame, limit: TPMKey.authorizationCount)
            let pin = try fields.secret(frame, limit: TokenRequest.longestPIN)
            self = .makeKey(
                authorization: authorization, pin: pin.count > 0 ? pin : nil,
                in: try fields.address(frame))
        case .sign:
            let message = try fields.data(frame, limit: TPMKey.longestMessage)
            let key = try fields.key(frame)
            let authorization = try fields.secret(frame, limit: TPMKey.authorizationCount)
            self = .sign(
                message, with: key, authorization: authorization, in: try fields.address(frame))
        case .attest:
            let message = try fields.data(frame, limit: TPMKey.longestMessage)
            let key = try fields.key(frame)
            let authorization = try fields.secret(frame, limit: TPMKey.authorizationCount)
            self = .attest(
                key, for: message, authorization: authorization, in: try fields.address(frame))
        case .activate:
            let blob = try fields.data(frame, limit: KeyActivation.largestBlob)
            let seed = try fields.data(frame, limit: KeyActivation.largestSeed)
            guard let activation = KeyActivation(blob: blob, seed: seed) else {
                throw FieldReader.Unreadable()
            }
            self = .activate(activation, in: try fields.address(frame))
        case .makeCredential:
            let device = try fields.path(frame)
            let salt = try fields.data(frame, limit: FIDOCredential.saltCount)
            self = .makeCredential(
                device: device, salt: salt, requiresPIN: try fields.flag(frame))
        case .secret:
            self = .secret(
                of: try fields.credential(frame), device: try fields.path(frame))
        }
        try fields.finish(frame)
    }
}

extension FieldReader {
    mutating func data(_ bytes: Span<UInt8>, limit: Int) throws(Unreadable) -> [UInt8] {
        [UInt8](copying: bytes.extracting(try string(bytes, limit: limit)))
    }

    mutating func secret(_ bytes: Span<UInt8>, limit: Int) throws(Unreadable) -> SecretBytes {
        SecretBytes(copying: bytes.extracting(try string(bytes, limit: limit)))
    }

    fileprivate mutating func address(_ bytes: Span<UInt8>) throws(Unreadable) -> TPMAddress {
        guard let address = TPMAddress(try text(bytes, limit: TPMAddress.longest)) else {
            throw Unreadable()
        }
        return address
    }

    fileprivate mutating func path(_ bytes: Span<UInt8>) throws(Unreadable) -> String? {
        let path = try text(bytes, limit: TokenRequest.longestPath)
        return path.isEmpty ? nil : path
    }

    mutating func object(_ bytes: Span<UInt8>) throws(Unreadable) -> TPMObject {
        let publicArea = try data(bytes, limit: TPMObject.largestArea)
        let privateArea = try data(bytes, limit: TPMObject.largestArea)
        let requiresPIN = try flag(bytes)
        let object = TPMObject(
            publicArea: publicArea, privateArea: privateArea, requiresPIN: requiresPIN,
            isBoundToPCR7: try flag(bytes))
        guard let object else { throw Unreadable() }
        return object
    }

    mutating func key(_ bytes: Span<UInt8>) throws(Unreadable) -> TPMKey {
        let publicArea = try data(bytes, limit: TPMKey.largestArea)
        let privateArea = try data(bytes, limit: TPMKey.largestArea)
        let parent = UInt32(truncatingIfNeeded: try number(bytes, width: 4))
        let key = TPMKey(
            publicArea: publicArea, privateArea: privateArea, parent: parent,
            parentName: try data(bytes, limit: TPMKey.longestName), requiresPIN: try flag(bytes))
        guard let key else { throw Unreadable() }
        return key
    }

    mutating func credential(_ bytes: Span<UInt8>) throws(Unreadable) -> FIDOCredential {
        let id = try data(bytes, limit: FIDOCredential.largestID)
        let salt = try data(bytes, limit: FIDOCredential.saltCount)
        let relyingParty = try text(bytes, limit: FIDOCredential.longestRelyingParty)
        guard
            let credential = FIDOCredential(
                id: id, salt: salt, relyingParty: relyingParty, requiresPIN: try flag(bytes))
        else { throw Unreadable() }
        return credential
    }
}

extension OutputSpan<UInt8> {
    mutating func append(_ key: TPMKey) {
        append(string: key.publicArea.span)
        append(string: key.privateArea.span)
        append(UInt64(key.parent), bytes: 4)
        append(string: key.parentName.span)
        append(key.requiresPIN ? 1 : 0)
    }
}
