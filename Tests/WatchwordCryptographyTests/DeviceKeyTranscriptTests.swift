import TestSupport
import Testing

@testable import WatchwordCryptography

@Suite("The transcript of device keys")
struct DeviceKeyTranscriptTests {
    struct Vector: Codable, Sendable {
        let name: String
        let purpose: String
        let audience: String
        let credential: String?
        let challenge: String?
        let ticket: String?
        let text: String?
        let presence: UInt8
        let expiry: UInt64?
        let bytes: String?
        let count: Int?
        let sha256: String
        let signature: String?
    }

    private static let vectors = Result {
        try VectorFile<Vector>("signatures/device-key-transcripts.json").cases
    }
    private static let scalar = "c1f186d56e6780823dd4c18aa6fc3ee2b7d6df281d0935c55f88f39d1ab3512b"

    @Test("the transcripts are the specified bytes, and the specified signature is valid")
    func vectors() throws {
        let key = try SigningKey(scalar: SecretBytes(hex: Self.scalar))
        let verifier = try VerificationKey(
            .ellipticCurve(.p256, point: key.point), algorithm: .es256)
        for vector in try Self.vectors.get() {
            let transcript = try transcript(of: vector, point: key.point)
            let digest = sha256(transcript.bytes.span)
            #expect(Hex.text(digest) == vector.sha256, "\(vector.name)")
            if let count = vector.count { #expect(transcript.bytes.count == count) }
            if let bytes = vector.bytes { #expect(Hex.text(transcript.bytes) == bytes) }
            if let text = vector.signature {
                let signature = try Hex.bytes(text)
                #expect(try verifier.isValid(signature.span, of: transcript.bytes.span))
            }
            let signature = try key.sign(transcript.bytes.span)
            #expect(try verifier.isValid(signature.span, of: transcript.bytes.span))
        }
    }

    @Test("transcripts that differ in one field have different bytes")
    func fields() throws {
        typealias Transcript = DeviceKeyTranscript
        let challenge = try #require(
            Transcript.Challenge([UInt8](repeating: 1, count: 32), expiry: 5))
        let scope = try #require(
            Transcript.Scope(audience: "https://login.example", presence: .advisory))
        var all: Set<[UInt8]> = [
            Transcript.signIn(scope, credential: "cr_A", challenge: challenge).bytes,
            Transcript.signIn(scope, credential: "cr_B", challenge: challenge).bytes,
            Transcript.confirmation(
                scope, credential: "cr_A", challenge: challenge, text: "Pay 1"
            ).bytes,
            Transcript.confirmation(
                scope, credential: "cr_A", challenge: challenge, text: "Pay 2"
            ).bytes,
            Transcript.enrolment(
                scope, ticket: SecretBytes(text: "wwt_A"), point: [4, 1]
            ).bytes,
            Transcript.enrolment(
                scope, ticket: SecretBytes(text: "wwt_B"), point: [4, 1]
            ).bytes,
            Transcript.enrolment(
                scope, ticket: SecretBytes(text: "wwt_A"), point: [4, 2]
            ).bytes,
        ]
        let later = try #require(Transcript.Challenge(challenge.bytes, expiry: 6))
        let other = try #require(
            Transcript.Challenge([UInt8](repeating: 2, count: 32), expiry: 5))
        for challenge in [later, other] {
            all.insert(
                Transcript.signIn(scope, credential: "cr_A", challenge: challenge).bytes)
        }
        let audiences = [
            "https://login.example:8443", "http://login.example", "https://login.example.evil",
        ]
        for audience in audiences {
            let scope = try #require(Transcript.Scope(audience: audience, presence: .advisory))
            all.insert(
                Transcript.signIn(scope, credential: "cr_A", challenge: challenge).bytes)
        }
        for presence in Transcript.Presence.allCases where presence != .advisory {
            let scope = try #require(
                Transcript.Scope(audience: "https://login.example", presence: presence))
            all.insert(
                Transcript.signIn(scope, credential: "cr_A", challenge: challenge).bytes)
        }
        #expect(all.count == 15)
        // A TPM's structures begin with FF 54 43 47.
        #expect(all.allSatisfy { $0[0] == 0 })
    }

    @Test("a challenge has 32 bytes, and an audience 1 to 1,024")
    func lengths() {
        typealias Transcript = DeviceKeyTranscript
        for count in [0, 31, 33] {
            let bytes = [UInt8](repeating: 0, count: count)
            #expect(Transcript.Challenge(bytes, expiry: 0) == nil)
        }
        for count in [0, 1025] {
            let audience = String(repeating: "a", count: count)
            #expect(Transcript.Scope(audience: audience, presence: .none) == nil)
        }
        let longest = String(repeating: "a", count: 1024)
        #expect(Transcript.Scope(audience: longest, presence: .none) != nil)
    }

    private func transcript(of vector: Vector, point: [UInt8]) throws -> DeviceKeyTranscript {
        let presence = try #require(DeviceKeyTranscript.Presence(rawValue: vector.presence))
        let scope = try #require(
            DeviceKeyTranscript.Scope(audience: vector.audience, presence: presence))
        if let ticket = vector.ticket {
            return .enrolment(scope, ticket: SecretBytes(text: ticket), point: point)
        }
        let challenge = try #require(
            DeviceKeyTranscript.Challenge(
                Hex.bytes(vector.challenge ?? ""), expiry: vector.expiry ?? 0))
        let credential = vector.credential ?? ""
        guard let text = vector.text else {
            return .signIn(scope, credential: credential, challenge: challenge)
        }
        return .confirmation(
            scope, credential: credential, challenge: challenge, text: text)
    }
}
