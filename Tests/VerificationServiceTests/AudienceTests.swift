import Cryptography
import HTTPMessage
import JSONText
import ServiceTranscripts
import TestSupport
import Testing
import Verification

@testable import VerificationService

/// Which clients may redeem a login.
struct AudienceTests {
    private func id(of key: String, _ world: ServiceWorld) async throws -> String {
        let clients = try await world.verifier.clients()
        let row = try #require(clients.first { $0.name == key })
        return try #require(ClientID(bytes: row.id)).text
    }

    /// Enrols a device on behalf of a client, signs in with it, and returns the login ticket.
    private func login(
        _ world: ServiceWorld, as key: String, _ more: String = ""
    ) async throws -> String {
        let enrolment = try await world.ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"secret"\#(more)}"#, as: key)
        let ticket = try #require(enrolment.text("ticket"))
        let device = try await world.ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#, as: nil)
        let (id, secret) = (device.text("credential") ?? "", device.text("secret") ?? "")
        let nonce = String(repeating: "A", count: 22)
        let login = try await world.ask(
            "POST", "/v1/device/logins",
            #"{"credential":"\#(id)","secret":"\#(secret)","rotation_nonce":"\#(nonce)"}"#, as: nil)
        return try #require(login.text("login"))
    }

    private func redeem(_ login: String, as key: String, _ world: ServiceWorld) async throws
        -> Reply
    {
        try await world.ask("POST", "/v1/logins/redeem", #"{"login":"\#(login)"}"#, as: key)
    }

    @Test(
        "O-09 for another client the ticket is unknown, whatever its scopes, and stays unspent")
    func audience() async throws {
        let world = try await ServiceWorld()
        let login = try await login(world, as: "all")
        let unknown = try await redeem("wwl_" + String(repeating: "A", count: 43), as: "all", world)
        let denied = try await redeem(login, as: "verify", world)
        #expect(denied.result == "denied")
        #expect(denied.response.body.text == unknown.response.body.text)
        #expect(denied.status == unknown.status)
        #expect(try await redeem(login, as: "all", world).text("subject") == "alice")
        #expect(try await redeem(login, as: "all", world).result == "denied")
    }

    @Test("O-09 only the clients that an enrolment names can redeem its logins")
    func named() async throws {
        let world = try await ServiceWorld()
        let verify = try await id(of: "verify", world)
        for redeemer in ["verify", "all"] {
            let login = try await login(world, as: "all", #","redeemable_by":["\#(verify)"]"#)
            let added = try #require(
                try await world.verifier.addClient(named: "not \(redeemer)", scopes: ["verify"]))
            let other = added.key.text
            let stranger = try await world.send(
                HTTPRequest(
                    method: "POST", target: "/v1/logins/redeem",
                    headers: [HTTPField("Content-Type", "application/json")],
                    authorization: SecretBytes(text: "Bearer \(other.text)"),
                    body: SecretBytes(text: #"{"login":"\#(login)"}"#), peer: "192.0.2.7"))
            #expect(stranger.result == "denied")
            #expect(try await redeem(login, as: redeemer, world).text("subject") == "alice")
        }
    }

    @Test("O-09 a client can redeem the logins of its devices after its key was renewed")
    func renewed() async throws {
        let world = try await ServiceWorld()
        let login = try await login(world, as: "all")
        let all = try #require(ClientID(text: try await id(of: "all", world)))
        guard case .renewed(_, let key) = try await world.verifier.renewClient(all.bytes) else {
            Issue.record("not renewed")
            return
        }
        func redeem(_ key: SecretBytes?) async throws -> Reply {
            try await world.send(
                HTTPRequest(
                    method: "POST", target: "/v1/logins/redeem",
                    headers: [HTTPField("Content-Type", "application/json")],
                    authorization: key.map { SecretBytes(text: "Bearer \($0.text)") },
                    body: SecretBytes(text: #"{"login":"\#(login)"}"#), peer: "192.0.2.7"))
        }
        #expect(try await redeem(world.keys["all"]).status == 401)
        #expect(try await redeem(key.text).text("subject") == "alice")
    }

    @Test("O-09 invalid client ids are rejected, and nothing is enrolled")
    func malformed() async throws {
        let world = try await ServiceWorld()
        let many = (0..<16).map { _ in #""cl_AAAAAAAAAAAAAAAAAAAAAA""# }.joined(separator: ",")
        for value in [
            "[]", #"["shop"]"#, #""cl_AAAAAAAAAAAAAAAAAAAAAA""#,
            "[1]", "null", "[\(many)]",
        ] {
            let reply = try await world.ask(
                "POST", "/v1/subjects/alice/credentials",
                #"{"type":"secret","redeemable_by":\#(value)}"#)
            #expect(reply.status == 400, "\(value)")
            #expect(reply.problem == "invalid-field")
            #expect(reply.text("field") == "redeemable_by")
        }
        // A well-formed id that no client has (RFC 9110, section 15.5.21).
        let unknown = try await world.ask(
            "POST", "/v1/subjects/alice/credentials",
            #"{"type":"secret","redeemable_by":["cl_AAAAAAAAAAAAAAAAAAAAAA"]}"#)
        #expect(unknown.status == 422)
        #expect(unknown.problem == "unknown-client")
        #expect(unknown.text("field") == "redeemable_by")
        let list = try await world.ask("GET", "/v1/subjects/alice/credentials")
        #expect(list.json?["credentials"]?.elements?.isEmpty == true)
    }
}
