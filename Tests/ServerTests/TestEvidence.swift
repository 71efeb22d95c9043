import Foundation
import ServiceTranscripts
import TestSupport
import Testing
import WatchwordCryptography

/// A device's evidence about its key in a TPM, which tests change as a forger would.
///
/// The endorsement key and its certificate come from `Vectors/tpm`. All other keys belong to the
/// test, because only the last step, the activation, proves that the keys are in that TPM.
struct TestEvidence: Sendable {
    private struct Vector: Codable, Sendable {
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

    static func root() throws -> TrustAnchors {
        let root = try #require(AnchorVector.all()["root"])
        let certificate = try Certificate(root)
        return try TrustAnchors([certificate])
    }

    let key: SigningKey
    private let attestationKey: SigningKey
    private let certificate: [UInt8]
    private let endorsementKey: [UInt8]
    /// fixedTPM, fixedParent, sensitiveDataOrigin, userWithAuth, noDA and sign.
    var keyAttributes: UInt32 = 0x0004_0472
    /// The attributes in the certification, if they are not ``keyAttributes``.
    var certifiedAttributes: UInt32?
    /// fixedTPM, fixedParent, sensitiveDataOrigin, userWithAuth, restricted and sign.
    var attestationAttributes: UInt32 = 0x0005_0072
    /// The ticket for which the certification is made, if it is not the presented ticket.
    var certifiedTicket: String?
    /// The server for which the certification is made.
    var certifiedAudience = SampleDeviceKey.audience
    /// `TPM_GENERATED_VALUE` and `TPM_ST_ATTEST_CERTIFY`.
    var magic: [UInt8] = [0xff, 0x54, 0x43, 0x47, 0x80, 0x17]

    init() throws {
        let vectors = try VectorFile<Vector>("tpm/device-key-attestations.json").cases
        let vector = try #require(vectors.first)
        certificate = [UInt8](vector.endorsementChain[0])
        endorsementKey = [UInt8](vector.endorsementKey)
        key = try SigningKey.make()
        attestationKey = try SigningKey.make()
    }

    /// The body of a registration with this ticket.
    func registration(_ ticket: String) throws -> String {
        let transcript = try transcript(ticket, SampleDeviceKey.audience)
        let signature = try key.sign(transcript.bytes.span)
        let certification = try certification(certifiedTicket ?? ticket)
        let statement = try attestationKey.sign(certification.span)
        let attestation = [
            ("endorsement_key", endorsementKey),
            ("attestation_key", Self.area(attestationKey.point, attestationAttributes)),
            ("device_key", Self.area(key.point, keyAttributes)), ("certification", certification),
            ("signature", statement),
        ].map { #""\#($0)":"\#(Base64URL.encode($1.span))""# }.joined(separator: ",")
        let texts = [key.point, signature, certificate].map { Base64URL.encode($0.span) }
        return #"{"ticket":"\#(ticket)","public_key":"\#(texts[0])","signature":"\#(texts[1])","#
            + #""presence":"none","custody":"tpm","#
            + #""attestation":{"certificates":["\#(texts[2])"],\#(attestation)}}"#
    }

    private func transcript(_ ticket: String, _ audience: String) throws -> DeviceKeyTranscript {
        let scope = try #require(DeviceKeyTranscript.Scope(audience: audience, presence: .none))
        return .enrolment(scope, ticket: SecretBytes(text: ticket), point: key.point)
    }

    /// `TPMS_ATTEST`.
    private func certification(_ ticket: String) throws -> [UInt8] {
        let transcript = try transcript(ticket, certifiedAudience)
        let digest = sha256(transcript.bytes.span)
        let area = Self.area(key.point, certifiedAttributes ?? keyAttributes)
        let areaDigest = sha256(area.span)
        let name: [UInt8] = [0, 0x0b] + areaDigest
        let unused = [UInt8](repeating: 0, count: 25)
        return magic + Self.sized([]) + Self.sized(digest) + unused + Self.sized(name)
            + Self.sized([])
    }

    /// `TPMT_PUBLIC` of a P-256 key that signs by ECDSA with SHA-256.
    private static func area(_ point: [UInt8], _ attributes: UInt32) -> [UInt8] {
        let bits = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: attributes >> UInt32($0)) }
        return [0, 0x23, 0, 0x0b] + bits + [0, 0, 0, 0x10, 0, 0x18, 0, 0x0b, 0, 3, 0, 0x10]
            + sized(Array(point[1..<33])) + sized(Array(point[33...]))
    }

    private static func sized(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes
    }
}
