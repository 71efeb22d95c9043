import Foundation
import PasskeyVerification
import ServiceTranscripts
import TestSupport
import Testing
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography

/// Attestation statements over HTTP, on both kinds of database.
struct PasskeyAttestationTests {
    /// A server that trusts one anchor, and whose challenges are those of the vectors.
    private static func server(
        _ database: PasskeyServer.Database, trusting anchor: [UInt8]?
    ) async throws -> PasskeyServer {
        let challenge = try Base64URL.decode(Array(AttestationVector.challenge.utf8).span)
        let system = RandomSource.system
        let randomness = RandomSource(
            bytes: { count in
                count == challenge.count ? challenge : system.bytes(count)
            },
            secret: { count in system.secret(count) })
        let anchors = try TrustAnchors([Certificate(#require(anchor))])
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
        _ vector: AttestationVector, at server: PasskeyServer, under policy: String = "trusted",
        for subject: String = "alice"
    ) async throws -> PasskeyDriver.Reply {
        let driver = server.driver
        let policy = #""attestation":"\#(policy)","user_verification":"preferred""#
        let begun = try await driver.begin(subject, #","policy":{\#(policy)}"#)
        #expect(Base64URL.encode(begun.challenge.span) == AttestationVector.challenge)
        let stated = try #require(vector.credentialID)
        let id = Base64URL.encode(stated.span)
        let members = [
            ("clientDataJSON", Array(AttestationVector.clientData.utf8)),
            ("attestationObject", [UInt8](vector.object)),
        ].map { #""\#($0)":"\#(Base64URL.encode($1.span))""# }.joined(separator: ",")
        let response =
            #"{"id":"\#(id)","rawId":"\#(id)","type":"public-key","response":{\#(members)}}"#
        return try await driver.send(
            .application, "/v1/credentials/\(begun.credential)/registration",
            #"{"response":\#(response)}"#)
    }

    @Test(
        "K-57 K-58 K-59 K-60 K-61 K-62 K-63 K-64 K-65 over HTTP, each statement that is not valid, or not trusted, is denied",
        arguments: PasskeyServer.Database.possible)
    func statements(database: PasskeyServer.Database) async throws {
        let (vectors, anchors) = (try AttestationVector.all(), try AnchorVector.all())
        let server = try await Self.server(database, trusting: anchors["root"])
        let other = try await Self.server(database, trusting: anchors["another root"])
        var count = 0
        for vector in vectors where vector.name.hasPrefix("K-") {
            let isForOther = vector.anchor == "another root"
            let reply = try await Self.register(vector, at: isForOther ? other : server)
            let expected =
                switch vector.verdict {
                case "certified", "none": "attestation-untrusted"
                case "unknown": "attestation-format"
                case "weak": "attestation-weak"
                default: vector.verdict
                }
            #expect(reply.result == "denied" && reply.reason == expected, "\(vector.name)")
            count += 1
        }
        #expect(count > 20)
        await other.stop()
        await server.stop()
    }

    @Test(
        "K-57 K-61 K-62 K-63 K-64 K-65 over HTTP, a good statement of each format is accepted, and called what it is",
        arguments: PasskeyServer.Database.possible)
    func good(database: PasskeyServer.Database) async throws {
        let (vectors, root) = (try AttestationVector.all(), try AnchorVector.all()["root"])
        let server = try await Self.server(database, trusting: root)
        var number = 0
        // A statement that is not trusted is also refused under "trusted".
        for (name, policy, attestation) in [
            ("none", "any", "none"), ("packed, self", "none", "self"),
            ("packed, self, RS256", "any", "self"), ("packed, certified", "none", "trusted"),
            ("fido-u2f", "any", "trusted"), ("tpm, a P-256 key", "trusted", "trusted"),
            ("tpm, an RSA key", "trusted", "trusted"), ("apple", "trusted", "trusted"),
            ("android-key, in the trusted environment", "trusted", "trusted"),
            ("android-key, in software", "any", "unverified"),
            ("packed, a leaf of another maker", "any", "unverified"),
            ("K-62 an unknown format", "none", "unverified"),
            ("K-63 tpm, RS1, signed with SHA-1", "none", "unverified"),
            ("K-63 tpm, RS1, signed with SHA-1", "any", "unverified"),
            ("apple, with alg, as in 2020", "trusted", "trusted"),
        ] {
            number += 1
            let subject = "s\(number)"
            let vector = try #require(vectors.first { $0.name == name })
            if attestation != "trusted" {
                let denied = try await Self.register(vector, at: server, for: subject)
                let reasons = ["unknown": "attestation-format", "weak": "attestation-weak"]
                let reason = reasons[vector.verdict, default: "attestation-untrusted"]
                #expect(denied.reason == reason, "\(name)")
            }
            let reply = try await Self.register(vector, at: server, under: policy, for: subject)
            #expect(reply.result == "accepted", "\(name)")
            #expect(reply.text("attestation") == attestation, "\(name)")
            // All vectors have the same id, which can be registered once.
            try await server.removeCredentials()
        }
        await server.stop()
    }

    @Test(
        "a U2F key is recorded without the AAGUID, which it does not sign",
        arguments: PasskeyServer.Database.possible)
    func unsignedModel(database: PasskeyServer.Database) async throws {
        let (vectors, root) = (try AttestationVector.all(), try AnchorVector.all()["root"])
        let server = try await Self.server(database, trusting: root)
        for (subject, name, hasModel) in [
            ("a", "fido-u2f", false),
            ("b", "fido-u2f, another AAGUID, which is not signed", false),
            ("c", "packed, certified", true),
        ] {
            let vector = try #require(vectors.first { $0.name == name })
            let reply = try await Self.register(vector, at: server, for: subject)
            #expect(reply.text("attestation") == "trusted", "\(name)")
            #expect((reply.text("authenticator") != nil) == hasModel, "\(name)")
            let list = try await server.ask("GET", "/v1/subjects/\(subject)/credentials")
            let listed = try #require(list.json?["credentials"]?.elements?.first)
            #expect(listed["attestation"]?.string == "trusted", "\(name)")
            #expect((listed["authenticator"]?.string != nil) == hasModel, "\(name)")
            // All vectors have the same id, which can be registered once.
            try await server.removeCredentials()
        }
        await server.stop()
    }
}
