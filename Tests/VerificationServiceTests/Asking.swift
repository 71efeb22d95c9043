import JSONReading
import OneTimePassword
import ServiceTranscripts
import TestSupport
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography

/// A response and its parsed JSON.
struct Reply {
    let response: HTTPResponse
    let json: JSONValue?

    var status: Int { response.status }
    /// The last part of the problem's type.
    var problem: String? { json?["type"]?.string?.split(separator: ":").last.map(String.init) }
    var result: String? { json?["result"]?.string }

    func text(_ name: String) -> String? { json?[name]?.string }
}

extension ServiceFixture {
    /// Sends a request, by default with an API key that has all scopes.
    @discardableResult
    func ask(
        _ method: String, _ target: String, _ body: String? = nil, as key: String? = "all",
        headers: [String: String] = [:], peer: String = "192.0.2.7"
    ) async throws -> Reply {
        var fields = headers.map { HTTPField($0.key, $0.value) }
        if body != nil, headers["Content-Type"] == nil {
            fields.append(HTTPField("Content-Type", "application/json"))
        }
        let authorization = key.flatMap { keys[$0] }.map {
            SecretBytes(text: "Bearer \($0.text)")
        }
        return try await send(
            HTTPRequest(
                method: method, target: target, headers: fields,
                authorization: authorization, body: SecretBytes(text: body ?? ""),
                peer: peer))
    }

    func send(_ request: HTTPRequest) async throws -> Reply {
        let response = await service.respond(to: request)
        let json =
            response.body.count > 0
            ? try readJSON(response.body, limits: JSONLimits(bytes: 1 << 20, depth: 32)) : nil
        return Reply(response: response, json: json)
    }

    /// Enrols a TOTP credential.
    func pending(_ subject: String = "alice") async throws -> EnrolledCredential {
        let reply = try await ask(
            "POST", "/v1/subjects/\(subject)/credentials",
            #"{"type":"totp","issuer":"ACME","account":"\#(subject)"}"#)
        guard let id = reply.text("credential"), let uri = reply.text("uri") else {
            throw Unexpected(status: reply.status)
        }
        return EnrolledCredential(
            id: id, subject: subject, uri: uri,
            credential: try KeyURI(parsing: Array(uri.utf8).span).credential)
    }

    /// Enrols and confirms a TOTP credential, then advances the clock by one step.
    func enrolled(_ subject: String = "alice") async throws -> EnrolledCredential {
        let credential = try await pending(subject)
        let confirmation = try await ask(
            "POST", "/v1/credentials/\(credential.id)/confirm",
            #"{"code":"\#(try code(of: credential))"}"#)
        guard confirmation.result == "accepted" else {
            throw Unexpected(status: confirmation.status)
        }
        clock.advance(seconds: 30)
        return credential
    }

    /// The code of a time step, relative to the current one.
    func code(of credential: EnrolledCredential, step: Int64 = 0) throws -> String {
        try credential.credential.code(atUnixTime: clock.now.seconds + 30 * step).text
    }

    /// A code that the credential does not accept within an hour of the current time.
    func wrongCode(of credential: EnrolledCredential) throws -> String {
        let near = try (-120...120).map { try code(of: credential, step: $0) }
        return (0..<1_000).lazy.map { "000\(100 + $0)" }.first { !near.contains($0) } ?? "000000"
    }

    func verify(
        _ subject: String, _ code: String, as key: String = "all",
        headers: [String: String] = [:]
    ) async throws -> Reply {
        try await ask(
            "POST", "/v1/verifications", #"{"subject":"\#(subject)","code":"\#(code)"}"#,
            as: key, headers: headers)
    }
}

/// The credential in an authenticator.
struct EnrolledCredential {
    let id: String
    let subject: String
    let uri: String
    let credential: Credential
}

/// Thrown for a response that a test's setup does not expect.
struct Unexpected: Error {
    let status: Int
}
