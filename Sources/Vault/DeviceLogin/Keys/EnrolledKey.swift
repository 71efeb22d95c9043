public import Courier
public import Devices
public import SecretVault
public import WatchwordCryptography

/// A device key as the vault keeps it: where it signs in, and what is needed to use it.
public struct EnrolledKey: Sendable {
    /// Where the private key is.
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

    /// A registration that is sent again until the server has answered it: ECDSA signatures differ
    /// each time, so it is never signed again.
    struct Registration: Sendable {
        let ticket: SecretBytes
        let presence: DeviceKeyTranscript.Presence
        let deviceName: String
        let signature: [UInt8]
        /// What the TPM says about the key, if the server is to check it.
        var attestation: KeyAttestation?
    }

    /// The server that the key signs in to.
    public let server: ServerAddress
    /// The certificate authorities to trust, in PEM; empty for the system's.
    public let authorities: [UInt8]
    /// The credential's public name; `nil` until the server has answered the registration.
    public let credential: Token?
    /// When the state last changed, in Unix seconds.
    public let changed: Int64
    /// The public key: 65 bytes.
    public let point: [UInt8]
    /// SHA-256 of the enrolment ticket, by which a repeated run recognises what it has done.
    let ticketDigest: [UInt8]
    /// Where the private key is.
    public let holding: Holding
    /// The registration, unless the server has answered it.
    let registration: Registration?
    /// Whether the server has checked that the private key is in a TPM.
    public internal(set) var isAttested = false
    /// The stored form of the key that replaces this one as soon as the server has registered it.
    var next: SecretBytes?

    /// The state after the registration.
    func registered(as credential: Token, isAttested: Bool, now: Int64) -> EnrolledKey {
        EnrolledKey(
            server: server, authorities: authorities, credential: credential, changed: now,
            point: point, ticketDigest: ticketDigest, holding: holding, registration: nil,
            isAttested: isAttested)
    }
}

extension EnrolledKey {
    /// Which of two stored states is newer: the registered one.
    static func order(of first: SecretBytes, _ second: SecretBytes) -> EnrolledOrder {
        let keys: (EnrolledKey, EnrolledKey)
        do throws(Unreadable) {
            keys = (try EnrolledKey(reading: first), try EnrolledKey(reading: second))
        } catch {
            return .unrelated
        }
        guard keys.0.server == keys.1.server, keys.0.point == keys.1.point else {
            return .unrelated
        }
        switch (keys.0.credential, keys.1.credential) {
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
        do { try self.init(reading: value) } catch { throw .unreadable }
    }
}
