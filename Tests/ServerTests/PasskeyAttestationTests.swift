import Attestation
import Cryptography
import Foundation
import JSONText
import ServiceTranscripts
import TestSupport
import Testing
import Verification
import VerificationService

/// Attestation statements over HTTP, on both kinds of database.
struct PasskeyAttestationTests {
    struct Vector: Codable, Sendable {
        let name: String
        let object: Data
        let verdict: String
        let chain: String?
        let anchor: String?
        let hardware: Bool?
    }

    struct Anchor: Codable, Sendable {
        let name: String
        let certificate: Data
    }

    private static let challenge = "SIeaR8idBVnfcBJc64GIjtadkHmDZ_g8E8kCAsGel5w"
    private static let clientData = """
        {"type":"webauthn.create","challenge":"\(challenge)",\
        "origin":"https://login.example","crossOrigin":false}
        """

    /// A server that trusts one anchor, and whose challenges are those of the vectors.
    private static func server(
        _ database: PasskeyServer.Database, trusting anchor: Data
    ) async throws -> PasskeyServer {
        let challenge = try Base64URL.decode(Array(challenge.utf8).span)
        let system = RandomSource.system
        let randomness = RandomSource(
            bytes: { count throws(CryptographyFailure) in
                count == challenge.count ? challenge : try system.bytes(count)
            },
            secret: { count throws(CryptographyFailure) in try system.secret(count) })
        let anchors = try TrustAnchors([Certificate([UInt8](anchor))])
        let relyingParty = try RelyingParty(
            ids: ["login.example"], name: "Mill", origins: ["https://login.example"],
            algorithms: SignatureAlgorithm.allCases,
            trust: AttestationTrust(anchors: anchors, models: nil))
        return try await PasskeyServer(
            database,
            passkeys: PasskeySettings(
                relyingParty: relyingParty, origins: ["https://login.example"]),
            randomness: randomness)
    }

    private static func register(
        _ vector: Vector, at server: PasskeyServer
    ) async throws -> PasskeyDriver.Reply {
        let driver = server.driver
        let policy = #","policy":{"attestation":"trusted","user_verification":"preferred"}"#
        let begun = try await driver.begin("alice", policy)
        #expect(Base64URL.encode(begun.challenge.span) == challenge)
        let object = [UInt8](vector.object)
        let stated = try #require(credentialID(object))
        let id = Base64URL.encode(stated.span)
        let members = [
            ("clientDataJSON", Array(clientData.utf8)), ("attestationObject", object),
        ].map { #""\#($0)":"\#(Base64URL.encode($1.span))""# }.joined(separator: ",")
        let response =
            #"{"id":"\#(id)","rawId":"\#(id)","type":"public-key","response":{\#(members)}}"#
        return try await driver.send(
            .application, "/v1/credentials/\(begun.credential)/registration",
            #"{"response":\#(response)}"#)
    }

    /// The 32 bytes of the id, which is the same in all vectors.
    private static func credentialID(_ object: [UInt8]) -> [UInt8]? {
        let mark: [UInt8] = [0xd3, 0x51, 0x7d, 0x35]
        let start = object.indices.first { object[$0...].starts(with: mark) }
        return start.map { Array(object[$0..<($0 + 32)]) }
    }

    @Test(
        "K-57 K-58 K-59 K-60 K-61 K-62 K-63 K-64 K-65 over HTTP, each statement that is not valid, or not trusted, is denied, and a valid one beside it is trusted",
        arguments: PasskeyServer.Database.possible)
    func statements(database: PasskeyServer.Database) async throws {
        let vectors = try VectorFile<Vector>("webauthn/attestations.json").cases
        let anchors = try VectorFile<Anchor>("webauthn/anchors.json").cases
        let root = try #require(anchors.first { $0.name == "root" }).certificate
        let another = try #require(anchors.first { $0.name == "another root" }).certificate
        let server = try await Self.server(database, trusting: root)
        let other = try await Self.server(database, trusting: another)
        var count = 0
        for vector in vectors where vector.name.hasPrefix("K-") {
            let isForOther = vector.anchor == "another root"
            let reply = try await Self.register(vector, at: isForOther ? other : server)
            let expected =
                switch vector.verdict {
                case "certified", "none": "attestation-untrusted"
                case "unknown": "attestation-format"
                default: vector.verdict
                }
            #expect(reply.result == "denied" && reply.reason == expected, "\(vector.name)")
            count += 1
        }
        #expect(count > 20)
        await other.stop()
        await server.stop()
        for format in ["packed, certified", "fido-u2f", "tpm, a P-256 key", "apple"] {
            let vector = try #require(vectors.first { $0.name == format })
            let trusting = try await Self.server(database, trusting: root)
            let reply = try await Self.register(vector, at: trusting)
            #expect(reply.result == "accepted", "\(format)")
            #expect(reply.text("attestation") == "trusted", "\(format)")
            await trusting.stop()
        }
    }
}
