import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import Verification

@Suite("Attestation of device keys")
struct DeviceKeyAttestationTests {
    struct Vector: Codable, Sendable {
        let name: String
        let endorsementChain: [Data]
        let endorsementKey: Data
        let attestationKey: Data
        let deviceKey: Data
        let certification: Data
        let signature: Data
        let point: Data
        let outcome: String
    }

    /// The time is in November 2026.
    private static let time: Int64 = 1_795_000_000

    private let vectors: [Vector]
    private let anchors: TrustAnchors

    init() throws {
        vectors = try VectorFile<Vector>("tpm/device-key-attestations.json").cases
        let roots = try AnchorVector.all().filter { ["root", "endorsement root"].contains($0.key) }
        anchors = try TrustAnchors(roots.values.map { try Certificate($0) })
    }

    @Test("N-41 K-78 a device key is attested only if each structure proves its part")
    func outcomes() throws {
        for vector in vectors {
            let transcript = try transcript(vector)
            do {
                let attestation = try VerifiedKeyAttestation(
                    evidence(vector), point: [UInt8](vector.point), transcript: transcript,
                    anchors: anchors, at: Self.time)
                #expect(vector.outcome == "accepted", "\(vector.name)")
                let area = try TPMPublicArea([UInt8](vector.attestationKey))
                #expect(attestation.attestationKeyName == area.name())
                #expect(throws: Never.self) {
                    try KeyActivation(
                        protecting: Randomness.secret(count: 32),
                        for: attestation.attestationKeyName,
                        endorsementKey: attestation.endorsementKey)
                }
            } catch VerifierError.attestation(let fault) {
                // The vectors were generated when the module had this name.
                let outcome = "\(fault)".replacing("WatchwordCryptography.", with: "Cryptography.")
                #expect(outcome == vector.outcome, "\(vector.name)")
            }
        }
    }

    @Test(
        "a certificate, key, certification or signature with any byte changed is refused",
        arguments: ["a key in a TPM", "P-256: a key in a TPM"])
    func changedByte(name: String) throws {
        let good = try #require(vectors.first { $0.name == name })
        let transcript = try transcript(good)
        let parts: [WritableKeyPath<Parts, [UInt8]>] = [
            \.certificate, \.attestationKey, \.deviceKey, \.certification, \.signature,
        ]
        var generator = SeededGenerator(seed: 78)
        for part in parts {
            let parts = Parts(good)
            for index in parts[keyPath: part].indices {
                var changed = parts
                changed[keyPath: part][index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                do {
                    let attestation = try VerifiedKeyAttestation(
                        #require(changed.evidence), point: [UInt8](good.point),
                        transcript: transcript,
                        anchors: anchors, at: Self.time)
                    // The attestation key's own fields are bound by its Name, which the TPM checks
                    // when it reveals the credential.
                    #expect(part == \.attestationKey)
                    #expect(
                        attestation.attestationKeyName
                            != (try TPMPublicArea(parts.attestationKey).name()))
                } catch VerifierError.attestation {
                    continue
                }
            }
        }
    }

    private struct Parts {
        var certificate: [UInt8]
        let endorsementKey: [UInt8]
        var attestationKey: [UInt8]
        var deviceKey: [UInt8]
        var certification: [UInt8]
        var signature: [UInt8]

        init(_ vector: Vector) {
            certificate = [UInt8](vector.endorsementChain[0])
            endorsementKey = [UInt8](vector.endorsementKey)
            attestationKey = [UInt8](vector.attestationKey)
            deviceKey = [UInt8](vector.deviceKey)
            certification = [UInt8](vector.certification)
            signature = [UInt8](vector.signature)
        }

        var evidence: KeyAttestation? {
            KeyAttestation(
                certificates: [certificate], endorsementKey: endorsementKey,
                attestationKey: attestationKey, deviceKey: deviceKey,
                certification: certification, signature: signature)
        }
    }

    private func evidence(_ vector: Vector) throws -> KeyAttestation {
        try #require(
            KeyAttestation(
                certificates: vector.endorsementChain.map { [UInt8]($0) },
                endorsementKey: [UInt8](vector.endorsementKey),
                attestationKey: [UInt8](vector.attestationKey),
                deviceKey: [UInt8](vector.deviceKey),
                certification: [UInt8](vector.certification),
                signature: [UInt8](vector.signature)))
    }

    private func transcript(_ vector: Vector) throws -> DeviceKeyTranscript {
        let scope = try #require(
            DeviceKeyTranscript.Scope(
                audience: "https://login.example", presence: .cryptographic))
        return .enrolment(
            scope, ticket: SecretBytes(text: "wwt_UO5_LITPdXhFmt5aI8CXbymACA2KzuRn9coE5Nd_Klc"),
            point: [UInt8](vector.point))
    }
}
