import ServiceTranscripts
import TestSupport
import Testing
import Verification
import WatchwordCoding
import WatchwordCryptography

@testable import VerificationService

/// The clients that may redeem a login.
struct AudienceTests {
    private func id(of key: String, _ fixture: ServiceFixture) async throws -> String {
        let clients = try await fixture.verifier.clients()
        let row = try #require(clients.first { $0.name == key })
        return try #require(ClientID(bytes: row.id)).text
    }

    /// Enrols a device on behalf of a client, signs in with it, and returns the login ticket.
    private func login(
        _ fixture: ServiceFixture, as key: String, _ more: String = ""
    ) async throws -> String {
        let enrolment = try await fixture.ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"secret"\#(more)}"#, as: key)
        let ticket = try #require(enrolment.text("ticket"))
        let device = try await fixture.ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#, as: nil)
        let (id, secret) = (device.text("credential") ?? "", device.text("secret") ?? "")
        let nonce = String(repeating: "A", count: 22)
        let login = try await fixture.ask(
            "POST", "/v1/device/logins",
            #"{"credential":"\#(id)","secret":"\#(secret)","rotation_nonce":"\#(nonce)"}"#, as: nil)
        return try #require(login.text("login"))
    }

    private func redeem(_ login: String, as key: String, _ fixture: ServiceFixture) async throws
        -> Reply
    {
        try await fixture.ask("POST", "/v1/logins/redeem", #"{"login":"\#(login)"}"#, as: key)
    }

    @Test(
        "O-09 a login ticket is unknown to other clients, whatever their scopes, and stays unspent")
    func audience() async throws {
        let fixture = try await ServiceFixture()
        let login = try await login(fixture, as: "all")
        let unknown = try await redeem(
            "wwl_" + String(repeating: "A", count: 43), as: "all", fixture)
        let denied = try await redeem(login, as: "verify", fixture)
        #expect(denied.result == "denied")
        #expect(denied.response.body.text == unknown.response.body.text)
        #expect(denied.status == unknown.status)
        #expect(try await redeem(login, as: "all", fixture).text("subject") == "alice")
        #expect(try await redeem(login, as: "all", fixture).result == "denied")
    }

    @Test("O-09 only the enrolling client and its chosen clients can redeem a device's logins")
    func named() async throws {
        let fixture = try await ServiceFixture()
        let verify = try await id(of: "verify", fixture)
        for redeemer in ["verify", "all"] {
            let login = try await login(fixture, as: "all", #","redeemable_by":["\#(verify)"]"#)
            let added = try #require(
                try await fixture.verifier.addClient(named: "not \(redeemer)", scopes: ["verify"]))
            let other = added.key.text
            let stranger = try await fixture.send(
                HTTPRequest(
                    method: "POST", target: "/v1/logins/redeem",
                    headers: [HTTPField("Content-Type", "application/json")],
                    authorization: SecretBytes(text: "Bearer \(other.text)"),
                    body: SecretBytes(text: #"{"login":"\#(login)"}"#), peer: "192.0.2.7"))
            #expect(stranger.result == "denied")
            #expect(try await redeem(login, as: redeemer, fixture).text("subject") == "alice")
        }
    }

    @Test("O-09 a client can redeem the logins of its devices after its key is renewed")
    func renewed() async throws {
        let fixture = try await ServiceFixture()
        let login = try await login(fixture, as: "all")
        let all = try #require(ClientID(text: try await id(of: "all", fixture)))
        guard case .renewed(_, let key) = try await fixture.verifier.renewClient(all.bytes) else {
            Issue.record("not renewed")
            return
        }
        func redeem(_ key: SecretBytes?) async throws -> Reply {
            try await fixture.send(
                HTTPRequest(
                    method: "POST", target: "/v1/logins/redeem",
                    headers: [HTTPField("Content-Type", "application/json")],
                    authorization: key.map { SecretBytes(text: "Bearer \($0.text)") },
                    body: SecretBytes(text: #"{"login":"\#(login)"}"#), peer: "192.0.2.7"))
        }
        #expect(try await redeem(fixture.keys["all"]).status == 401)
        #expect(try await redeem(key.text).text("subject") == "alice")
    }

    @Test("O-09 invalid client ids are rejected, and nothing is enrolled")
    func malformed() async throws {
        let fixture = try await ServiceFixture()
        let many = (0..<16).map { _ in #""cl_AAAAAAAAAAAAAAAAAAAAAA""# }.joined(separator: ",")
        for value in [
            "[]", #"["shop"]"#, #""cl_AAAAAAAAAAAAAAAAAAAAAA""#,
            "[1]", "null", "[\(many)]",
        ] {
            let reply = try await fixture.ask(
                "POST", "/v1/subjects/alice/credentials",
                #"{"type":"secret","redeemable_by":\#(value)}"#)
            #expect(reply.status == 400, "\(value)")
            #expect(reply.problem == "invalid-field")
            let isElement = [#"["shop"]"#, "[1]"].contains(value)
            #expect(reply.text("field") == "redeemable_by" + (isElement ? "[0]" : ""))
        }
        // A well-formed id that no client has (RFC 9110, section 15.5.21).
        let unknown = try await fixture.ask(
            "POST", "/v1/subjects/alice/credentials",
            #"{"type":"secret","redeemable_by":["cl_AAAAAAAAAAAAAAAAAAAAAA"]}"#)
        #expect(unknown.status == 422)
        #expect(unknown.problem == "unknown-client")
        #expect(unknown.text("field") == "redeemable_by")
        let list = try await fixture.ask("GET", "/v1/subjects/alice/credentials")
        #expect(list.json?["credentials"]?.elements?.isEmpty == true)
    }
}
