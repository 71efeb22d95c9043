public import Verification
public import WatchwordCryptography
internal import WatchwordSystem

/// The object that a browser returns for a new credential (WebAuthn Level 3, section 6.5.4).
public struct AttestationObject: Sendable {
    /// The authenticator data with the new credential.
    public let registration: RegistrationData
    /// The format of the statement, such as `packed`.
    public let format: String
    private let statement: CBORMap

    /// Reads an object, which has exactly three members, in any order.
    ///
    /// - Throws: ``DenialReason/attestationObject``, or an error of ``RegistrationData/init(_:)``.
    public init(_ encoded: [UInt8]) throws(DenialReason) {
        let item = try replacingErrors(
            of: readCBOR(encoded, keyOrder: .any), with: DenialReason.attestationObject)
        guard let object = item.members, object.hasExactly("fmt", "attStmt", "authData"),
            let format = object["fmt"]?.textString, let statement = object["attStmt"]?.members,
            let data = object["authData"]?.byteString
        else { throw .attestationObject }
        self.format = format.string
        self.statement = statement
        registration = try RegistrationData(data)
    }

    /// Verifies the statement, without deciding whether its certificates are trusted.
    ///
    /// - Parameter clientDataHash: The SHA-256 digest of the client data.
    public func verify(
        clientDataHash: [UInt8]
    ) throws(CryptographyFailure) -> AttestationOutcome {
        let attested = AttestedData(registration, clientDataHash)
        let statement = AttestationStatement(members: statement)
        do {
            let verdict: AttestationVerdict =
                switch format {
                case "none": try statement.verifyNone()
                case "packed": try statement.verifyPacked(attested)
                case "fido-u2f": try statement.verifyU2F(attested)
                case "tpm": try statement.verifyTPM(attested)
                case "android-key": try statement.verifyAndroidKey(attested)
                case "apple": try statement.verifyApple(attested)
                default: .unknownFormat
                }
            return .verified(verdict)
        } catch let failure as CryptographyFailure {
            throw failure
        } catch {
            return .denied(.attestation)
        }
    }
}

/// The result of the verification of an attestation statement.
public enum AttestationOutcome: Sendable {
    /// The statement is valid; the verdict states the signer.
    case verified(AttestationVerdict)
    /// The statement is invalid.
    case denied(DenialReason)
}

/// The signer of a valid attestation statement.
public enum AttestationVerdict: Sendable {
    /// The statement is empty (the format `none`).
    case none
    /// The credential's own key signed it.
    case selfAttested
    /// The owner of a certificate signed it.
    case certified(AttestationCertificates)
    /// The owner of a certificate signed it with SHA-1, so the maker cannot be trusted. Everything
    /// else about the statement is valid. If OpenSSL refuses SHA-1, the signature is not checked.
    case weaklyCertified(AttestationCertificates)
    /// The statement's format is unknown here, and the statement was not verified.
    case unknownFormat
}

/// The certificates of an attestation statement.
public struct AttestationCertificates: Sendable {
    /// The certificates, leaf first: at most eight.
    public let chain: [Certificate]
    /// The AAGUID that the statement covers; zeros if the statement covers none.
    public let model: [UInt8]
    /// Whether the statement shows that the key was generated, and may sign, in secure hardware.
    ///
    /// The value is false only for Android keys that are not managed in hardware.
    public let isKeyInHardware: Bool
}
