internal import Verification
internal import WatchwordCryptography

/// The registration that an attestation statement is about.
struct AttestedData {
    let registration: RegistrationData
    let clientDataHash: [UInt8]
    /// The bytes that most formats sign.
    let signedBytes: [UInt8]

    init(_ registration: RegistrationData, _ clientDataHash: [UInt8]) {
        self.registration = registration
        self.clientDataHash = clientDataHash
        signedBytes = registration.data.encoded + clientDataHash
    }
}

/// An attestation statement (WebAuthn Level 3, section 8).
///
/// Any error that its methods throw means that the statement is invalid, except for a
/// `CryptographyFailure`.
struct AttestationStatement {
    let members: CBORMap

    func requireExactly(_ names: CBORText...) throws {
        guard members.keys == Set(names.map { .text($0) }) else { throw DenialReason.attestation }
    }

    func bytes(_ name: CBORText) throws -> [UInt8] {
        guard let bytes = members[name]?.byteString else { throw DenialReason.attestation }
        return bytes
    }

    /// The member `alg`, which must be an algorithm that is known here.
    func algorithm() throws -> SignatureAlgorithm {
        guard let number = members["alg"]?.integer,
            let algorithm = SignatureAlgorithm(rawValue: number)
        else { throw DenialReason.attestation }
        return algorithm
    }

    /// The member `x5c`: one to eight certificates, leaf first.
    func certificates() throws -> (leaf: Certificate, chain: [Certificate]) {
        guard let items = members["x5c"]?.items,
            (1...TrustAnchors.longestChain).contains(items.count)
        else { throw DenialReason.attestation }
        var chain: [Certificate] = []
        for item in items {
            guard let encoded = item.byteString else { throw DenialReason.attestation }
            chain.append(try Certificate(encoded))
        }
        return (chain[0], chain)
    }

    /// Requires that the owner of `leaf` signed `message`; the member `sig` is the signature.
    func requireSignature(
        by leaf: Certificate, _ algorithm: SignatureAlgorithm, over message: [UInt8]
    ) throws {
        try requireSignature(by: try key(of: leaf, algorithm), over: message)
    }

    func key(
        of leaf: Certificate, _ algorithm: SignatureAlgorithm
    ) throws -> VerificationKey {
        guard let publicKey = leaf.publicKey else { throw DenialReason.attestation }
        return try VerificationKey(publicKey, algorithm: algorithm)
    }

    /// Requires that the owner of `key` signed `message`; the member `sig` is the signature.
    func requireSignature(
        by key: VerificationKey, over message: [UInt8]
    ) throws {
        let signature = try bytes("sig")
        guard try key.isValid(signature.span, of: message.span) else {
            throw DenialReason.attestation
        }
    }

    /// The format `none` (section 8.7): an empty statement.
    func verifyNone() throws -> AttestationVerdict {
        try requireExactly()
        return .none
    }
}

extension Certificate {
    /// Requires that the certificate is for an authenticator of this model, if the certificate
    /// specifies one (section 8.2.1).
    func requireModel(_ model: [UInt8]) throws {
        guard let found = self.extension("1.3.6.1.4.1.45724.1.1.4") else { return }
        guard !found.isCritical else { throw DenialReason.attestation }
        let element = try DERElement.readOne(found.value)
        guard element.tag == .octetString, !element.isConstructed, element.content == model else {
            throw DenialReason.attestation
        }
    }
}
