import TestSupport
import Testing

/// The effect of secrets that the server never issued on a device's credential.
struct UnknownSecretTests {
    @Test(
        "O-08 unknown secrets do not revoke a credential unless the operator enables this",
        arguments: [
            ([], false), (["--foreign-secrets", "ignore"], false),
            (["--foreign-secrets", "count"], true),
        ])
    func madeUp(options: [String], isHOTP: Bool) async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state, arguments: options)
        let asker = try Asker(server.port, key: try await state.makeKey())
        let enrolment = try await asker.ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"secret"}"#)
        let ticket = try #require(enrolment?.texts["ticket"])
        let device = try await asker.ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#)
        let credential = try #require(device?.texts["credential"])
        let secret = try #require(device?.texts["secret"])
        let madeUp = "wws_" + String(repeating: "A", count: secret.count - 4)
        func login(_ secret: String) async throws -> RawConnection.Answer? {
            try await asker.ask(
                "POST", "/v1/device/logins",
                #"{"credential":"\#(credential)","secret":"\#(secret)","rotation_nonce":"AAAAAAAAAAAAAAAAAAAAAA"}"#
            )
        }
        var reasons: [String?] = []
        for _ in 1...3 {
            let answer = try await login(madeUp)
            #expect(answer?.texts["result"] == "denied")
            reasons.append(answer?.texts["wipe_reason"])
        }
        #expect(reasons == [nil, nil, isHOTP ? "too-many-failures" : nil])
        let owner = try await login(secret)
        #expect(owner?.texts["result"] == (isHOTP ? "denied" : "accepted"))
        try await server.stop()
    }
}
