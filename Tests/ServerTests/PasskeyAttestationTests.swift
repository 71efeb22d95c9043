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
        _ vector: AttestationVector, at server: PasskeyServer, under policy: String,
        for subject: String
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
        "over HTTP, the kind of an attestation is reported, and the unsigned AAGUID of a U2F key is not recorded",
        arguments: PasskeyServer.Database.possible)
    func attestations(database: PasskeyServer.Database) async throws {
        let (vectors, root) = (try AttestationVector.all(), try AnchorVector.all()["root"])
        let server = try await Self.server(database, trusting: root)
        for (subject, name, policy, attestation, hasModel) in [
            ("a", "fido-u2f", "trusted", "trusted", false),
            ("b", "fido-u2f, another AAGUID, which is not signed", "trusted", "trusted", false),
            ("c", "packed, certified", "trusted", "trusted", true),
            ("d", "packed, self", "none", "self", true),
            ("e", "android-key, in software", "any", "unverified", true),
        ] {
            let vector = try #require(vectors.first { $0.name == name })
            let reply = try await Self.register(vector, at: server, under: policy, for: subject)
            #expect(reply.text("attestation") == attestation, "\(name)")
            #expect((reply.text("authenticator") != nil) == hasModel, "\(name)")
            let list = try await server.ask("GET", "/v1/subjects/\(subject)/credentials")
            let listed = try #require(list.json?["credentials"]?.elements?.first)
            #expect(listed["attestation"]?.string == attestation, "\(name)")
            #expect((listed["authenticator"]?.string != nil) == hasModel, "\(name)")
            // All vectors have the same id, which can be registered once.
            try await server.removeCredentials()
        }
        await server.stop()
    }
}
