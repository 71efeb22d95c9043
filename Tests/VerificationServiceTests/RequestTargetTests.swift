import Testing

@testable import VerificationService

struct RequestTargetTests {
    private func segments(_ target: String) throws(Refusal) -> [String] {
        try RequestTarget(target).segments.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("a path is split before it is decoded, so an escaped slash does not separate segments")
    func decoding() throws {
        #expect(try segments("/v1/subjects/a%2Fb/x") == ["v1", "subjects", "a/b", "x"])
        #expect(try segments("/%C3%A9%0D%0A+@:") == ["é\r\n+@:"])
        #expect(try segments("/a//b/") == ["a", "", "b", ""])
        #expect(try segments("/") == [""])
        let query = try RequestTarget("/v1/events?after=5&x=%3D%26").parameters
        #expect(query.map(\.name) == ["after", "x"] && query.map(\.value) == ["5", "=&"])
        #expect(try RequestTarget("/a?").parameters.isEmpty)
    }

    @Test(
        "a malformed target is rejected",
        arguments: [
            "", "*", "v1", "http://host/v1", "/%", "/%4", "/%4G", "/%g4", "/%00", "/%FF",
            "/%C3", "/%ED%A0%80", "/%C0%AF", "/a b", "/é", "/a\u{0}", "/a\"", "/[", "/a#b",
            "/a?b", "/a?b=1&", "/a?=%zz", "/a?b=c#d", "/a?b=%00",
        ])
    func refusal(_ target: String) {
        #expect(throws: Refusal(.malformedTarget)) { try RequestTarget(target) }
    }
}

struct RouterTests {
    private func find(_ method: String, _ target: String) throws(Refusal) -> Router.Finding {
        try Router.find(method: method, segments: RequestTarget(target).segments)
    }

    private func operation(_ method: String, _ target: String) throws -> String? {
        guard case .match(let match) = try find(method, target) else { return nil }
        return match.route.operation.id
    }

    private let id = "cr_AAAAAAAAAAAAAAAAAAAAAA"

    @Test("the router finds a route by method and path, with its parameters")
    func found() throws {
        #expect(try operation("POST", "/v1/verifications") == "verify")
        #expect(try operation("DELETE", "/v1/credentials/\(id)") == "revokeCredential")
        #expect(try operation("PATCH", "/v1/credentials/\(id)") == "renameCredential")
        guard case .match(let match) = try find("HEAD", "/v1/subjects/a%2Fb%20c/credentials")
        else {
            Issue.record("no route")
            return
        }
        #expect(match.route.operation.id == "listCredentials" && match.isHead)
        #expect(match.parameters == ["subject": "a/b c"])
    }

    @Test("an unknown path gets 404, never a redirect")
    func unknown() {
        for target in [
            "/", "/v1", "/v1/", "/v2/verifications", "/v1/verifications/", "/V1/verifications",
            "/v1//verifications", "/v1/subjects//credentials", "/metrics", "/readyz",
        ] {
            #expect(throws: Refusal(.unknownRoute)) { try find("POST", target) }
        }
        #expect(Status.allCases.allSatisfy { !(300..<400).contains($0.rawValue) })
    }

    @Test("an unsupported method gets 405 with the supported methods")
    func methods() throws {
        #expect(throws: Refusal(.methodNotAllowed([.post, .options]))) {
            try find("GET", "/v1/verifications")
        }
        #expect(throws: Refusal(.methodNotAllowed([.post, .get, .head, .options]))) {
            try find("TRACE", "/v1/subjects/a/credentials")
        }
        #expect(throws: Refusal(.methodNotAllowed([.post, .options]))) {
            try find("post", "/v1/verifications")
        }
        guard case .options(let methods) = try find("OPTIONS", "/v1/credentials/\(id)") else {
            Issue.record("no options")
            return
        }
        #expect(methods == [.patch, .delete, .options])
    }

    @Test("a malformed parameter is rejected before any lookup")
    func parameters() {
        for bad in ["x", "cr_", id + "A", "cr_AAAAAAAAAAAAAAAAAAAAAB", id.uppercased()] {
            #expect(throws: Refusal(.malformedTarget)) {
                try find("DELETE", "/v1/credentials/\(bad)")
            }
        }
        let long = String(repeating: "a", count: 256)
        #expect(throws: Refusal(.malformedTarget)) {
            try find("GET", "/v1/subjects/\(long)/credentials")
        }
        #expect(throws: Never.self) {
            try find("GET", "/v1/subjects/\(long.dropLast())/credentials")
        }
    }
}
