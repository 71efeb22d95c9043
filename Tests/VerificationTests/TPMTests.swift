import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("TPM structures")
struct TPMTests {
    struct CredentialVector: Codable, Sendable {
        let secret: String
        let name: String
        let seed: String
        let blob: String
    }

    /// A secret that is protected for a TPM whose endorsement key is on P-256.
    struct AgreementVector: Codable, Sendable {
        let name: String
        let endorsementScalar: String
        let endorsementPoint: String
        let ephemeralScalar: String?
        let agreed: String
        let seed: String
        let encryptedSeed: String
        let keyName: String
        let secret: String
        let blob: String
    }

    struct KeyVector: Codable, Sendable {
        let name: String
        let publicArea: String
        let keyName: String
        let attributes: UInt32
    }

    struct CertificationVector: Codable, Sendable {
        let name: String
        let certification: String
        let signature: String
        let signer: String
        let key: String
        let extraData: String
    }

    private let keys: [KeyVector]
    private let certifications: [CertificationVector]

    init() throws {
        keys = try VectorFile<KeyVector>("tpm/public-areas.json").cases
        certifications = try VectorFile<CertificationVector>("tpm/certify.json").cases
    }

    @Test("public areas of a TPM decode, and have the Names that the TPM computes")
    func publicAreas() throws {
        for vector in keys {
            let area = try TPMPublicArea(Hex.bytes(vector.publicArea))
            #expect(Hex.text(area.name()) == vector.keyName, "\(vector.name)")
            #expect(area.attributes.rawValue == vector.attributes, "\(vector.name)")
        }
        let endorsement = try area("endorsement key")
        #expect(endorsement.attributes.isSuperset(of: [.fixedTPM, .restricted, .decrypt]))
        #expect(endorsement.policy.count == 32)
        #expect(throws: Never.self) { try EndorsementKey(endorsement.publicKey) }
        let key = try area("device key")
        #expect(key.scheme == .ecdsaSHA256)
        #expect(key.policy.isEmpty)
        #expect(throws: Never.self) { try VerificationKey(key.publicKey, algorithm: .es256) }
    }

    @Test("a TPM's certification of a key decodes, and carries the attestation key's signature")
    func certification() throws {
        for vector in certifications {
            let encoded = try Hex.bytes(vector.certification)
            let certification = try TPMCertification(encoded)
            let key = try area(vector.key)
            #expect(certification.name == key.name())
            #expect(Hex.text(certification.qualifyingData) == vector.extraData)
            let signer = try VerificationKey(area(vector.signer).publicKey, algorithm: .es256)
            let signature = try Hex.bytes(vector.signature)
            #expect(try signer.isValid(signature.span, of: encoded.span))
        }
    }

    @Test("truncations and bytes after a structure are refused")
    func truncated() throws {
        for vector in keys {
            let encoded = try Hex.bytes(vector.publicArea)
            for count in encoded.indices {
                #expect(throws: VerifierError.attestation(.malformed)) {
                    try TPMPublicArea(Array(encoded.prefix(count)))
                }
            }
            #expect(throws: VerifierError.attestation(.malformed)) {
                try TPMPublicArea(encoded + [0])
            }
        }
        let encoded = try Hex.bytes(#require(certifications.first).certification)
        for count in encoded.indices {
            #expect(throws: VerifierError.attestation(.malformed)) {
                try TPMCertification(Array(encoded.prefix(count)))
            }
        }
        #expect(throws: VerifierError.attestation(.malformed)) {
            try TPMCertification(encoded + [0])
        }
    }

    @Test("a coordinate without its leading zeros is padded")
    func shortCoordinate() throws {
        let head = try Hex.bytes("0023000b00040472000000100018000b00030010")
        let area = try TPMPublicArea(head + [0, 2, 7, 8, 0, 1, 9])
        let zeros = [UInt8](repeating: 0, count: 30)
        #expect(
            area.publicKey == .ellipticCurve(.p256, point: [4] + zeros + [7, 8, 0] + zeros + [9]))
        let tooLong = [0, 33] + [UInt8](repeating: 1, count: 33) + [0, 1, 9]
        #expect(throws: VerifierError.attestation(.malformed)) { try TPMPublicArea(head + tooLong) }
    }

    @Test("a protected secret equals the output of an independent implementation")
    func credentialBlob() throws {
        for vector in try VectorFile<CredentialVector>("tpm/make-credential.json").cases {
            let blob = try KeyActivation.blob(
                SecretBytes(hex: vector.secret), for: Hex.bytes(vector.name),
                seed: SecretBytes(hex: vector.seed))
            #expect(Hex.text(blob) == vector.blob)
        }
    }

    @Test("a seed for P-256 equals the output of independent implementations")
    func agreedSeed() throws {
        var ephemeralKeys = 0
        for vector in try VectorFile<AgreementVector>("tpm/make-credential-p256.json").cases {
            let point = try AgreementPoint(
                .ellipticCurve(.p256, point: Hex.bytes(vector.endorsementPoint)))
            let encrypted = try Hex.bytes(vector.encryptedSeed)
            // The seed is computed as by the TPM, from its own scalar and the ephemeral point.
            let endorsement = try EphemeralKey(
                scalar: SecretBytes(hex: vector.endorsementScalar))
            #expect(endorsement.point == point.point)
            let ephemeralPoint = [4] + encrypted[2..<34] + encrypted[36...]
            let agreed = try endorsement.agreedSecret(
                with: AgreementPoint(.ellipticCurve(.p256, point: ephemeralPoint)))
            #expect(agreed.hex == vector.agreed, "\(vector.name)")
            if let scalar = vector.ephemeralScalar {
                let ephemeral = try EphemeralKey(scalar: SecretBytes(hex: scalar))
                let seed = try EndorsementKey.seed(for: point, by: ephemeral)
                #expect(seed.secret.hex == vector.seed, "\(vector.name)")
                #expect(Hex.text(seed.encrypted) == vector.encryptedSeed, "\(vector.name)")
                ephemeralKeys += 1
            }
            let information =
                Array("IDENTITY\0".utf8) + ephemeralPoint[1...32] + point.point[1...32]
            let seed = try sskdfSHA256(secret: agreed, information: information.span, count: 32)
            #expect(seed.hex == vector.seed, "\(vector.name)")
            let blob = try KeyActivation.blob(
                SecretBytes(hex: vector.secret), for: Hex.bytes(vector.keyName), seed: seed)
            #expect(Hex.text(blob) == vector.blob, "\(vector.name)")
        }
        #expect(ephemeralKeys == 4)
    }

    @Test("a seed is generated only for RSA and for a valid point on P-256, and differs each time")
    func endorsementKeys() throws {
        let vector = try #require(
            try VectorFile<AgreementVector>("tpm/make-credential-p256.json").cases.first)
        let point = try Hex.bytes(vector.endorsementPoint)
        let key = try EndorsementKey(.ellipticCurve(.p256, point: point))
        let (first, second) = (try key.makeSeed(), try key.makeSeed())
        #expect(first.secret.hex != second.secret.hex && first.encrypted != second.encrypted)
        #expect(first.encrypted.count == 68)
        var offCurve = point
        offCurve[64] ^= 1
        #expect(throws: CryptographyError.invalidKey) {
            try EndorsementKey(.ellipticCurve(.p256, point: offCurve))
        }
        let zeros = [4] + [UInt8](repeating: 0, count: 64)
        for wrong in [[0], [2] + point[1...32], zeros] as [[UInt8]] {
            #expect(throws: CryptographyError.self) {
                try EndorsementKey(.ellipticCurve(.p256, point: wrong))
            }
        }
        let other = [UInt8](repeating: 1, count: 97)
        #expect(throws: CryptographyError.otherAlgorithm) {
            try EndorsementKey(.ellipticCurve(.p384, point: other))
        }
        #expect(throws: CryptographyError.otherAlgorithm) { try EndorsementKey(.ed25519(other)) }
    }

    @Test(
        "a TPM reveals only the secret that was protected for its key",
        .enabled(if: TPMTools.areInstalled, "needs swtpm and tpm2-tools"),
        arguments: ["rsa", "ecc"])
    func activation(kind: String) throws {
        let tpm = try EmulatedTPM()
        let tools = try TPMTools(for: tpm)
        try tools.run("tpm2_createek", "-c", "ek.ctx", "-G", kind, "-u", "ek.pub")
        try tools.run(
            "tpm2_createak", "-C", "ek.ctx", "-c", "ak.ctx", "-G", "ecc", "-g", "sha256", "-s",
            "ecdsa", "-u", "ak.pub", "-n", "ak.name")
        // The files begin with the length of the structure.
        let endorsement = try TPMPublicArea(Array(tools.bytes("ek.pub").dropFirst(2)))
        let attestation = try TPMPublicArea(Array(tools.bytes("ak.pub").dropFirst(2)))
        #expect(try attestation.name() == tools.bytes("ak.name"))
        let secret = Randomness.secret(count: 32)
        let key = try EndorsementKey(endorsement.publicKey)
        let protected = try KeyActivation(
            protecting: secret, for: attestation.name(), endorsementKey: key)
        #expect(try tools.activate(protected) == secret.known)

        var otherName = attestation.name()
        otherName[5] ^= 1
        let foreign = try KeyActivation(
            protecting: secret, for: otherName, endorsementKey: key)
        #expect(try tools.activate(foreign) == nil)
        // The endorsement key belongs to a different TPM, or the ephemeral point is not on the
        // curve.
        let other = try TPMTools(for: EmulatedTPM())
        try other.run("tpm2_createek", "-c", "ek.ctx", "-G", kind, "-u", "ek.pub")
        let otherKey = try EndorsementKey(
            TPMPublicArea(Array(other.bytes("ek.pub").dropFirst(2))).publicKey)
        let elsewhere = try KeyActivation(
            protecting: secret, for: attestation.name(), endorsementKey: otherKey)
        #expect(try tools.activate(elsewhere) == nil)
        var seed = protected.seed
        seed[seed.count - 1] ^= 1
        let changed = try #require(KeyActivation(blob: protected.blob, seed: seed))
        #expect(try tools.activate(changed) == nil)
    }

    private func area(_ name: String) throws -> TPMPublicArea {
        let vector = try #require(keys.first { $0.name == name })
        return try TPMPublicArea(Hex.bytes(vector.publicArea))
    }
}

extension TPMTools {
    /// The bytes of a file that one of the programs wrote.
    fileprivate func bytes(_ name: String) throws -> [UInt8] { try folder.bytes(of: name) }

    /// The secret that `TPM2_ActivateCredential` returns; `nil` if it refuses the credential.
    fileprivate func activate(_ protected: KeyActivation) throws -> [UInt8]? {
        func sized(_ bytes: [UInt8]) -> [UInt8] {
            [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes
        }
        // The file of tpm2-tools begins with a magic number and a version.
        let file =
            [0xba, 0xdc, 0xc0, 0xde, 0, 0, 0, 1] + sized(protected.blob) + sized(protected.seed)
        try folder.write(file, to: "credential.bin")
        try run("tpm2_startauthsession", "--policy-session", "-S", "session.ctx")
        try run("tpm2_policysecret", "-S", "session.ctx", "-c", "e")
        let outcome = try start(
            "tpm2_activatecredential",
            [
                "-c", "ak.ctx", "-C", "ek.ctx", "-i", "credential.bin", "-o", "secret.out", "-P",
                "session:\(folder.file("session.ctx"))",
            ])
        try run("tpm2_flushcontext", "session.ctx")
        _ = try start("tpm2_flushcontext", ["-t"])
        return outcome.status == 0 ? try bytes("secret.out") : nil
    }
}
