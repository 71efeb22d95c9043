import Foundation
import TestSupport
import Testing
import Verification
import WatchwordCryptography

@testable import PasskeyVerification

/// Complete ceremonies of Chromium; the expected values come from the authenticator, not from the
/// bytes.
@Suite("Ceremonies recorded in Chromium")
struct CeremonyTests {
    struct Vector: Codable, Sendable {
        let name, origin: String
        let topOrigin: String?
        let challenge, options, response: String
        let expected: Registered
        let assertions: [Assertion]

        enum CodingKeys: String, CodingKey {
            case name, origin, challenge, options, response, expected, assertions
            case topOrigin = "top_origin"
        }
    }

    struct Registered: Codable, Sendable {
        let credentialID: String
        let alg: Int64
        let x, y, n, e: String?
        let count: UInt32
        let backupEligible, backedUp: Bool

        enum CodingKeys: String, CodingKey {
            case alg, x, y, n, e, count
            case credentialID = "credential_id"
            case backupEligible = "backup_eligible"
            case backedUp = "backed_up"
        }
    }

    struct Assertion: Codable, Sendable {
        let name, origin: String
        let topOrigin: String?
        let challenge, options, response: String
        let expected: Used

        enum CodingKeys: String, CodingKey {
            case name, origin, challenge, options, response, expected
            case topOrigin = "top_origin"
        }
    }

    struct Used: Codable, Sendable {
        let count: UInt32
        let backupEligible, backedUp: Bool

        enum CodingKeys: String, CodingKey {
            case count
            case backupEligible = "backup_eligible"
            case backedUp = "backed_up"
        }
    }

    /// The members of a browser's response that the tests need.
    private struct Response: Decodable {
        struct Content: Decodable {
            let clientDataJSON: String
            let attestationObject, authenticatorData, signature: String?
        }
        let id: String
        let response: Content
    }

    private let vectors: [Vector]

    init() throws { vectors = try VectorFile<Vector>("webauthn/ceremonies.json").cases }

    @Test("each registration has the key, the id, the count and the flags of the authenticator")
    func registrations() throws {
        for vector in vectors {
            let response = try read(vector.response)
            let object = try object(response)
            let registration = object.registration
            let expected = vector.expected
            #expect(response.id == expected.credentialID)
            #expect(Base64URL.encode(registration.credentialID.span) == expected.credentialID)
            #expect(registration.key.algorithm.rawValue == expected.alg)
            #expect(
                numbers(registration.key.publicKey) == [
                    expected.x, expected.y, expected.n, expected.e,
                ])
            #expect(registration.data.signatureCount == expected.count)
            #expect(registration.data.flags.isBackupEligible == expected.backupEligible)
            #expect(registration.data.flags.isBackedUp == expected.backedUp)
            let hash = try digest(bytes(response.response.clientDataJSON))
            guard case .verified = try object.verify(clientDataHash: hash) else {
                Issue.record("\(vector.name) is not verified")
                continue
            }
        }
        #expect(
            vectors.contains { $0.expected.n != nil } && vectors.contains { $0.expected.alg == -8 })
    }

    @Test("each assertion is signed by the registered key, and by no other key")
    func assertions() throws {
        let keys = try vectors.map { try object(read($0.response)).registration.key }
        for (index, vector) in vectors.enumerated() {
            for assertion in vector.assertions {
                let response = try read(assertion.response).response
                let data = try AuthenticatorData(
                    assertion: bytes(try #require(response.authenticatorData)))
                let signature = try bytes(try #require(response.signature))
                let hash = try digest(bytes(response.clientDataJSON))
                for (other, key) in keys.enumerated() {
                    #expect(
                        try data.isSigned(signature, by: key, clientDataHash: hash)
                            == (other == index), "\(vector.name): \(assertion.name)")
                }
                #expect(data.signatureCount == assertion.expected.count)
                #expect(data.flags.isBackupEligible == assertion.expected.backupEligible)
                #expect(data.flags.isBackedUp == assertion.expected.backedUp)
            }
        }
    }

    @Test("a signed attestation is bound to the client data")
    func otherClientData() throws {
        let statements = try vectors.map { try object(read($0.response)) }
            .filter { $0.format != "none" }
        #expect(Set(statements.map(\.format)) == ["packed", "fido-u2f"])
        for object in statements {
            guard case .denied = try object.verify(clientDataHash: digest([1])) else {
                Issue.record("\(object.format) accepts other client data")
                continue
            }
        }
    }

    private func read(_ text: String) throws -> Response {
        try JSONDecoder().decode(Response.self, from: Data(text.utf8))
    }

    private func object(_ response: Response) throws -> AttestationObject {
        try AttestationObject(bytes(try #require(response.response.attestationObject)))
    }

    private func bytes(_ text: String) throws -> [UInt8] {
        let text = Array(text.utf8)
        return try Base64URL.decode(text.span)
    }

    private func digest(_ bytes: [UInt8]) -> [UInt8] { sha256(bytes.span) }

    /// The parameters x, y, n and e in hexadecimal, where the key has them.
    private func numbers(_ key: PublicKey) -> [String?] {
        func text(_ bytes: some Sequence<UInt8>) -> String {
            bytes.map { String(format: "%02x", $0) }.joined()
        }
        return switch key {
        case .ellipticCurve(_, let point): [text(point[1..<33]), text(point[33...]), nil, nil]
        case .rsa(let modulus, let exponent): [nil, nil, text(modulus), text(exponent)]
        case .ed25519(let point): [text(point), nil, nil, nil]
        }
    }
}
