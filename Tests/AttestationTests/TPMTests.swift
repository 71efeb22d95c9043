import Cryptography
import Foundation
import TestSupport
import Testing

@testable import Attestation

@Suite("TPM structures")
struct TPMTests {
    struct CredentialVector: Codable, Sendable {
        let secret: String
        let name: String
        let seed: String
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

    @Test("public areas of a TPM are read, and have the Names that it gives them")
    func publicAreas() throws {
        for vector in keys {
            let area = try TPMPublicArea(Hex.bytes(vector.publicArea))
            #expect(Hex.text(try area.name()) == vector.keyName, "\(vector.name)")
            #expect(area.attributes.rawValue == vector.attributes, "\(vector.name)")
        }
        let endorsement = try area("endorsement key")
        #expect(endorsement.attributes.isSuperset(of: [.fixedTPM, .restricted, .decrypt]))
        #expect(endorsement.policy.count == 32)
        #expect(throws: Never.self) { try EncryptionKey(endorsement.publicKey) }
        let key = try area("device key")
        #expect(key.scheme == .ecdsaSHA256)
        #expect(key.policy.isEmpty)
        #expect(throws: Never.self) { try VerificationKey(key.publicKey, algorithm: .es256) }
    }

    @Test("a TPM's certification of a key is read, and signed by its attestation key")
    func certification() throws {
        for vector in certifications {
            let encoded = try Hex.bytes(vector.certification)
            let certification = try TPMCertification(encoded)
            let key = try area(vector.key)
            #expect(try certification.name == key.name())
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
                #expect(throws: TPMStructureError.self) {
                    try TPMPublicArea(Array(encoded.prefix(count)))
                }
            }
            #expect(throws: TPMStructureError.self) { try TPMPublicArea(encoded + [0]) }
        }
        let encoded = try Hex.bytes(#require(certifications.first).certification)
        for count in encoded.indices {
            #expect(throws: TPMStructureError.self) {
                try TPMCertification(Array(encoded.prefix(count)))
            }
        }
        #expect(throws: TPMStructureError.self) { try TPMCertification(encoded + [0]) }
    }

    @Test("a coordinate without its leading zeros is padded")
    func shortCoordinate() throws {
        let head = try Hex.bytes("0023000b00040472000000100018000b00030010")
        let area = try TPMPublicArea(head + [0, 2, 7, 8, 0, 1, 9])
        let zeros = [UInt8](repeating: 0, count: 30)
        #expect(
            area.publicKey == .ellipticCurve(.p256, point: [4] + zeros + [7, 8, 0] + zeros + [9]))
        let tooLong = [0, 33] + [UInt8](repeating: 1, count: 33) + [0, 1, 9]
        #expect(throws: TPMStructureError.self) { try TPMPublicArea(head + tooLong) }
    }

    @Test("a protected secret is the one that another implementation computes")
    func credentialBlob() throws {
        for vector in try VectorFile<CredentialVector>("tpm/make-credential.json").cases {
            let blob = try KeyActivation.blob(
                SecretBytes(hex: vector.secret), for: Hex.bytes(vector.name),
                seed: SecretBytes(hex: vector.seed))
            #expect(Hex.text(blob) == vector.blob)
        }
    }

    @Test(
        "a TPM reveals the secret that was protected for its key, and no other",
        .enabled(
            if: EmulatedTPM.isInstalled && ForeignProgram("tpm2_activatecredential") != nil,
            "needs swtpm and tpm2-tools"))
    func activation() throws {
        let tools = try TPMTools()
        try tools.run("tpm2_createek", "-c", "ek.ctx", "-G", "rsa", "-u", "ek.pub")
        try tools.run(
            "tpm2_createak", "-C", "ek.ctx", "-c", "ak.ctx", "-G", "ecc", "-g", "sha256", "-s",
            "ecdsa", "-u", "ak.pub", "-n", "ak.name")
        // The files begin with the length of the structure.
        let endorsement = try TPMPublicArea(Array(tools.bytes("ek.pub").dropFirst(2)))
        let attestation = try TPMPublicArea(Array(tools.bytes("ak.pub").dropFirst(2)))
        #expect(try attestation.name() == tools.bytes("ak.name"))
        let secret = try Randomness.secret(count: 32)
        let key = try EncryptionKey(endorsement.publicKey)
        let protected = try KeyActivation(
            protecting: secret, for: attestation.name(), endorsementKey: key)
        #expect(try tools.activate(protected) == secret.known)

        var otherName = try attestation.name()
        otherName[5] ^= 1
        let foreign = try KeyActivation(
            protecting: secret, for: otherName, endorsementKey: key)
        #expect(try tools.activate(foreign) == nil)
    }

    private func area(_ name: String) throws -> TPMPublicArea {
        let vector = try #require(keys.first { $0.name == name })
        return try TPMPublicArea(Hex.bytes(vector.publicArea))
    }
}

/// tpm2-tools with a TPM in software.
private struct TPMTools {
    private let emulator: EmulatedTPM
    private let folder: TemporaryFolder

    struct Failed: Error {
        let program: String
        let errors: String
    }

    init() throws {
        emulator = try EmulatedTPM()
        folder = try TemporaryFolder()
    }

    func bytes(_ name: String) throws -> [UInt8] { try folder.bytes(of: name) }

    /// Runs a program; arguments with a dot are files.
    func run(_ name: String, _ arguments: String...) throws {
        let outcome = try start(name, arguments)
        guard outcome.status == 0 else {
            throw Failed(program: name, errors: String(decoding: outcome.errors, as: UTF8.self))
        }
        // There are three places for keys.
        _ = try start("tpm2_flushcontext", ["-t"])
    }

    /// The secret that `TPM2_ActivateCredential` returns; `nil` if it refuses the credential.
    func activate(_ protected: KeyActivation) throws -> [UInt8]? {
        func sized(_ bytes: [UInt8]) -> [UInt8] {
            [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes
        }
        // The file of tpm2-tools has a magic number and a version.
        let file =
            [0xba, 0xdc, 0xc0, 0xde, 0, 0, 0, 1] + sized(protected.blob)
            + sized(protected.seed)
        _ = try folder.write(file, to: "credential.bin")
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

    private func start(
        _ name: String, _ arguments: [String]
    ) throws -> ForeignProgram.Outcome {
        guard let program = ForeignProgram(name) else { throw Failed(program: name, errors: "") }
        var environment = ProcessInfo.processInfo.environment
        environment["TPM2TOOLS_TCTI"] = emulator.address
        let files = arguments.map { argument in
            argument.contains(".") && !argument.contains(":") ? folder.file(argument) : argument
        }
        return try program.run(files, environment: environment)
    }
}
