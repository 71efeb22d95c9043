internal import Verification
internal import WatchwordCryptography

/// The format `android-key` (WebAuthn Level 3, section 8.4).
extension Statement {
    func verifyAndroidKey(_ attested: AttestedData) throws -> AttestationVerdict {
        try requireExactly("alg", "sig", "x5c")
        let (leaf, chain) = try certificates()
        guard leaf.publicKey == attested.registration.key.publicKey else {
            throw DenialReason.attestation
        }
        try requireSignature(by: leaf, try algorithm(), over: attested.signedBytes)
        guard let found = leaf.extension("1.3.6.1.4.1.11129.2.1.17") else {
            throw DenialReason.attestation
        }
        let description = try AndroidKeyDescription(found.value)
        guard description.challenge == attested.clientDataHash, description.isAcceptable else {
            throw DenialReason.attestation
        }
        return .certified(
            AttestationCertificates(
                chain: chain, model: attested.registration.model,
                isKeyInHardware: description.hardware.isGeneratedForSigning))
    }
}

/// The content of the extension that describes a key in Android's keystore.
private struct AndroidKeyDescription {
    let challenge: [UInt8]
    /// What software enforces.
    let software: AndroidAuthorizations
    /// What the trusted execution environment, or a secure element, enforces.
    let hardware: AndroidAuthorizations

    init(_ encoded: [UInt8]) throws(DERElement.Malformed) {
        let sequence = try DERElement.readOne(encoded)
        let members = try sequence.children()
        // Version and security level of the attestation and of the keystore, challenge, unique id,
        // and two lists.
        guard sequence.tag == .sequence, members.count == 8, members[4].tag == .octetString,
            members[6].tag == .sequence, members[7].tag == .sequence
        else { throw DERElement.Malformed() }
        challenge = members[4].content
        software = try AndroidAuthorizations(members[6])
        hardware = try AndroidAuthorizations(members[7])
    }

    /// Whether the key is for one application, was generated in the keystore, and may sign.
    var isAcceptable: Bool {
        let origins = [software.origin, hardware.origin].compactMap(\.self)
        return !software.isForAllApplications && !hardware.isForAllApplications
            && !origins.isEmpty && origins.allSatisfy { $0 == AndroidAuthorizations.generated }
            && (software.purposes.union(hardware.purposes)).contains(AndroidAuthorizations.sign)
    }
}

/// A list of authorizations; each has a tag of its own.
private struct AndroidAuthorizations {
    /// `KM_ORIGIN_GENERATED`.
    static let generated: Int64 = 0
    /// `KM_PURPOSE_SIGN`.
    static let sign: Int64 = 2

    let purposes: Set<Int64>
    let isForAllApplications: Bool
    let origin: Int64?

    init(_ list: DERElement) throws(DERElement.Malformed) {
        let members = try list.children()
        guard Set(members.map(\.tag)).count == members.count else { throw DERElement.Malformed() }
        isForAllApplications = members.contains { $0.tag == .context(600) }
        if let purpose = members.first(where: { $0.tag == .context(1) }) {
            purposes = Set(try Self.inner(purpose).children().compactMap(\.number))
        } else {
            purposes = []
        }
        if let origin = members.first(where: { $0.tag == .context(702) }) {
            guard let number = try Self.inner(origin).number else { throw DERElement.Malformed() }
            self.origin = number
        } else {
            origin = nil
        }
    }

    /// Whether this list alone says that the key was generated in the keystore and may sign.
    var isGeneratedForSigning: Bool { origin == Self.generated && purposes.contains(Self.sign) }

    private static func inner(_ tagged: DERElement) throws(DERElement.Malformed) -> DERElement {
        let inner = try tagged.children()
        guard inner.count == 1 else { throw DERElement.Malformed() }
        return inner[0]
    }
}
