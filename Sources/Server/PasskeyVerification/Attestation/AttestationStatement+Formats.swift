internal import Verification
internal import WatchwordCryptography

/// The format `packed` (WebAuthn Level 3, section 8.2).
extension AttestationStatement {
    func verifyPacked(_ attested: AttestedData) throws -> AttestationVerdict {
        guard members["x5c"] != nil else { return try verifySelfAttestation(attested) }
        try requireExactly("alg", "sig", "x5c")
        let (leaf, chain) = try certificates()
        try requireSignature(by: leaf, try algorithm(), over: attested.signedBytes)
        try requirePackedCertificate(leaf)
        try leaf.requireModel(attested.registration.model)
        return .certified(
            AttestationCertificates(
                chain: chain, model: attested.registration.model, isKeyInHardware: true))
    }

    private func verifySelfAttestation(
        _ attested: AttestedData
    ) throws -> AttestationVerdict {
        try requireExactly("alg", "sig")
        let key = attested.registration.key
        guard try algorithm() == key.algorithm else { throw DenialReason.attestation }
        try requireSignature(by: key, over: attested.signedBytes)
        return .selfAttested
    }

    /// The requirements of section 8.2.1.
    private func requirePackedCertificate(_ leaf: Certificate) throws {
        let country = leaf.subjectValues("2.5.4.6")
        guard leaf.version == 3, !leaf.isAuthority,
            country.count == 1, country[0].utf8.count == 2,
            hasValue(leaf.subjectValues("2.5.4.10")), hasValue(leaf.subjectValues("2.5.4.3")),
            leaf.subjectValues("2.5.4.11") == ["Authenticator Attestation"]
        else { throw DenialReason.attestation }
    }

    private func hasValue(_ values: [String]) -> Bool { values.contains { !$0.isEmpty } }
}

/// The format `fido-u2f` (WebAuthn Level 3, section 8.6).
extension AttestationStatement {
    func verifyU2F(_ attested: AttestedData) throws -> AttestationVerdict {
        try requireExactly("sig", "x5c")
        let (leaf, chain) = try certificates()
        let registration = attested.registration
        guard chain.count == 1, case .ellipticCurve(.p256, _)? = leaf.publicKey,
            case .ellipticCurve(.p256, let point) = registration.key.publicKey
        else { throw DenialReason.attestation }
        let message =
            [0] + registration.data.relyingPartyHash + attested.clientDataHash
            + registration.credentialID + point
        try requireSignature(by: leaf, .es256, over: message)
        // The signature does not cover the AAGUID.
        return .certified(
            AttestationCertificates(
                chain: chain, model: [UInt8](repeating: 0, count: 16), isKeyInHardware: true))
    }
}

/// The format `apple` (WebAuthn Level 3, section 8.8).
extension AttestationStatement {
    func verifyApple(_ attested: AttestedData) throws -> AttestationVerdict {
        // Until 2021, Apple's devices also stated the algorithm of the credential's key.
        if members["alg"] == nil {
            try requireExactly("x5c")
        } else {
            try requireExactly("alg", "x5c")
            guard try algorithm() == attested.registration.key.algorithm else {
                throw DenialReason.attestation
            }
        }
        let (leaf, chain) = try certificates()
        guard leaf.publicKey == attested.registration.key.publicKey,
            let found = leaf.extension("1.2.840.113635.100.8.2"),
            try appleNonce(found.value) == sha256(attested.signedBytes.span)
        else { throw DenialReason.attestation }
        return .certified(
            AttestationCertificates(
                chain: chain, model: attested.registration.model, isKeyInHardware: true))
    }

    /// The octet string in `SEQUENCE { [1] OCTET STRING }`.
    private func appleNonce(_ encoded: [UInt8]) throws -> [UInt8] {
        let sequence = try DERElement.readOne(encoded)
        let members = try sequence.children()
        guard sequence.tag == .sequence, members.count == 1, members[0].tag == .context(1)
        else { throw DenialReason.attestation }
        let inner = try members[0].children()
        guard inner.count == 1, inner[0].tag == .octetString, !inner[0].isConstructed else {
            throw DenialReason.attestation
        }
        return inner[0].content
    }
}

/// The format `tpm` (WebAuthn Level 3, section 8.3).
extension AttestationStatement {
    func verifyTPM(_ attested: AttestedData) throws -> AttestationVerdict {
        try requireExactly("ver", "alg", "x5c", "sig", "certInfo", "pubArea")
        // Windows uses SHA-1 on many computers.
        let isWeak = members["alg"]?.integer == Self.rs1
        let algorithm = isWeak ? nil : try self.algorithm()
        let (leaf, chain) = try certificates()
        let certInfo = try bytes("certInfo")
        let publicArea = try TPMPublicArea(try bytes("pubArea"))
        let certified = try TPMCertification(certInfo)
        guard members["ver"]?.textString == "2.0",
            publicArea.publicKey == attested.registration.key.publicKey
        else { throw DenialReason.attestation }
        let digest: [UInt8]? =
            if let algorithm {
                algorithm.digest(attested.signedBytes)
            } else {
                sha1(attested.signedBytes.span)
            }
        guard let digest, certified.qualifyingData == digest,
            certified.name == publicArea.name()
        else { throw DenialReason.attestation }
        if let algorithm {
            try requireSignature(by: leaf, algorithm, over: certInfo)
        } else {
            try requireWeakSignature(by: leaf, over: certInfo)
        }
        try requireAIKCertificate(leaf)
        try leaf.requireModel(attested.registration.model)
        let certificates = AttestationCertificates(
            chain: chain, model: attested.registration.model, isKeyInHardware: true)
        return isWeak ? .weaklyCertified(certificates) : .certified(certificates)
    }

    /// RSASSA-PKCS1-v1_5 with SHA-1, in COSE (RFC 8812).
    private static let rs1: Int64 = -65535

    private func requireWeakSignature(
        by leaf: Certificate, over message: [UInt8]
    ) throws {
        let signature = try bytes("sig")
        // If OpenSSL refuses SHA-1, the signature stays unchecked: the passkey is not trusted in
        // any case.
        let isValid = try key(of: leaf, .rs256).isValidWithSHA1(signature.span, of: message.span)
        guard isValid != false else { throw DenialReason.attestation }
    }

    /// The requirements of section 8.3.1.
    private func requireAIKCertificate(_ leaf: Certificate) throws {
        let names = Set(leaf.alternativeNames.map(\.identifier))
        guard leaf.version == 3, !leaf.hasSubject, !leaf.isAuthority,
            leaf.extension("2.5.29.17")?.isCritical == true,
            // Manufacturer, model and version of the TPM.
            names.isSuperset(of: ["2.23.133.2.1", "2.23.133.2.2", "2.23.133.2.3"]),
            leaf.extendedKeyUsage.contains("2.23.133.8.3")
        else { throw DenialReason.attestation }
    }
}

extension SignatureAlgorithm {
    /// The digest that the algorithm signs; `nil` if it signs messages directly.
    fileprivate func digest(_ bytes: [UInt8]) -> [UInt8]? {
        switch self {
        case .es256, .rs256: sha256(bytes.span)
        case .es384: sha384(bytes.span)
        case .es512: sha512(bytes.span)
        case .ed25519: nil
        }
    }
}

/// The format `android-key` (WebAuthn Level 3, section 8.4).
extension AttestationStatement {
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
    /// The authorizations that software enforces.
    let software: AndroidAuthorizations
    /// The authorizations that the trusted execution environment, or a secure element, enforces.
    let hardware: AndroidAuthorizations

    init(_ encoded: [UInt8]) throws(CryptographyError) {
        let sequence = try DERElement.readOne(encoded)
        let members = try sequence.children()
        // Version and security level of the attestation and of the keystore, challenge, unique id,
        // and two lists.
        guard sequence.tag == .sequence, members.count == 8, members[4].tag == .octetString,
            members[6].tag == .sequence, members[7].tag == .sequence
        else { throw .notDER }
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

/// A list of authorizations; each has its own tag.
private struct AndroidAuthorizations {
    /// `KM_ORIGIN_GENERATED`.
    static let generated: Int64 = 0
    /// `KM_PURPOSE_SIGN`.
    static let sign: Int64 = 2

    let purposes: Set<Int64>
    let isForAllApplications: Bool
    let origin: Int64?

    init(_ list: DERElement) throws(CryptographyError) {
        let members = try list.children()
        guard Set(members.map(\.tag)).count == members.count else { throw .notDER }
        isForAllApplications = members.contains { $0.tag == .context(600) }
        if let purpose = members.first(where: { $0.tag == .context(1) }) {
            purposes = Set(try Self.inner(purpose).children().compactMap(\.number))
        } else {
            purposes = []
        }
        if let origin = members.first(where: { $0.tag == .context(702) }) {
            guard let number = try Self.inner(origin).number else { throw .notDER }
            self.origin = number
        } else {
            origin = nil
        }
    }

    /// Whether this list alone states that the key was generated in the keystore and may sign.
    var isGeneratedForSigning: Bool { origin == Self.generated && purposes.contains(Self.sign) }

    private static func inner(_ tagged: DERElement) throws(CryptographyError) -> DERElement {
        let inner = try tagged.children()
        guard inner.count == 1 else { throw .notDER }
        return inner[0]
    }
}
