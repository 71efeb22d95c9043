internal import WatchwordCryptography

/// Why a statement could not be verified.
enum StatementError: Error {
    /// It is not valid.
    case invalid
    /// A call into OpenSSL failed.
    case failed(CryptographyFailure)
}

/// What an attestation statement is about.
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
struct Statement {
    let members: CBORMap

    func requireExactly(_ names: CBORText...) throws(StatementError) {
        guard members.keys == Set(names.map { .text($0) }) else { throw .invalid }
    }

    func bytes(_ name: CBORText) throws(StatementError) -> [UInt8] {
        guard let bytes = members[name]?.byteString else { throw .invalid }
        return bytes
    }

    /// The member `alg`, which must be an algorithm that is known here.
    func algorithm() throws(StatementError) -> SignatureAlgorithm {
        guard let number = members["alg"]?.integer,
            let algorithm = SignatureAlgorithm(rawValue: number)
        else { throw .invalid }
        return algorithm
    }

    /// The member `x5c`: one to eight certificates, leaf first.
    func certificates() throws(StatementError) -> (leaf: Certificate, chain: [Certificate]) {
        guard let items = members["x5c"]?.items,
            (1...TrustAnchors.longestChain).contains(items.count)
        else { throw .invalid }
        var chain: [Certificate] = []
        for item in items {
            guard let encoded = item.byteString else { throw .invalid }
            do { chain.append(try Certificate(encoded)) } catch { throw .invalid }
        }
        return (chain[0], chain)
    }

    /// Requires that the owner of `leaf` signed `message`; the signature is the member `sig`.
    func requireSignature(
        by leaf: Certificate, _ algorithm: SignatureAlgorithm, over message: [UInt8]
    ) throws(StatementError) {
        try requireSignature(by: try key(of: leaf, algorithm), over: message)
    }

    /// The certificate's key.
    func key(
        of leaf: Certificate, _ algorithm: SignatureAlgorithm
    ) throws(StatementError) -> VerificationKey {
        guard let publicKey = leaf.publicKey else { throw .invalid }
        do { return try VerificationKey(publicKey, algorithm: algorithm) } catch { throw .invalid }
    }

    /// Requires that the owner of `key` signed `message`; the signature is the member `sig`.
    func requireSignature(
        by key: VerificationKey, over message: [UInt8]
    ) throws(StatementError) {
        let signature = try bytes("sig")
        let isValid: Bool
        do {
            isValid = try key.isValid(signature.span, of: message.span)
        } catch {
            throw .failed(error)
        }
        guard isValid else { throw .invalid }
    }

    /// The SHA-256 digest of `bytes`.
    func digest(_ bytes: [UInt8]) -> [UInt8] {
        sha256(bytes.span)
    }

    /// The format `none` (section 8.7): an empty statement.
    func verifyNone() throws(StatementError) -> AttestationVerdict {
        try requireExactly()
        return .none
    }
}

extension Certificate {
    /// Requires that the certificate is for an authenticator of this model, if it names one
    /// (section 8.2.1).
    func requireModel(_ model: [UInt8]) throws(StatementError) {
        guard let found = self.extension("1.3.6.1.4.1.45724.1.1.4") else { return }
        guard !found.isCritical else { throw .invalid }
        let element: DERElement
        do { element = try DERElement.readOne(found.value) } catch { throw .invalid }
        guard element.tag == .octetString, !element.isConstructed, element.content == model else {
            throw .invalid
        }
    }
}
