import Foundation
import TestSupport
import Testing

struct SecretsTests {
    @Test("V-28 no log line, metric or database file contains a secret")
    func disclosure() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker)
        var secrets = [key, alice.code(), alice.code(2)]
        let seed = alice.uri.split(separator: "secret=").last?.prefix { $0 != "&" } ?? "none"
        secrets.append(String(seed))
        let wrong = alice.wrongCodes(1)
        secrets += wrong
        _ = try await asker.verify("alice", alice.code())
        _ = try await asker.verify("alice", wrong[0])
        let recovery = try await asker.ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"recovery"}"#)
        let codes = try JSONSerialization.jsonObject(with: Data(recovery?.body ?? []))
        let made = (codes as? [String: Any])?["codes"] as? [String] ?? []
        #expect(made.count == 10)
        secrets += made
        _ = try await asker.verify("alice", made.first ?? "")
        let enrolment = try await asker.ask(
            "POST", "/v1/subjects/alice/credentials", #"{"type":"secret"}"#)
        let ticket = try #require(enrolment?.texts["ticket"])
        let device = try await asker.ask(
            "POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#)
        let secret = try #require(device?.texts["secret"])
        let nonce = "AAAAAAAAAAAAAAAAAAAAAA"
        let body =
            #"{"credential":"\#(device?.texts["credential"] ?? "")","secret":"\#(secret)","rotation_nonce":"\#(nonce)"}"#
        let login = try await asker.ask("POST", "/v1/device/logins", body)
        secrets += [ticket, secret, nonce] + ["login", "secret"].compactMap { login?.texts[$0] }
        #expect(secrets.count >= 20)
        // Malformed input is not repeated, either.
        _ = try await asker.ask("POST", "/v1/verifications", #"{"subject":"alice","\#(secret)":1}"#)
        _ = try await asker.ask("GET", "/v1/\(secret)?code=\(secret)")
        let metrics = try await Asker(server.operationsPort).ask("GET", "/metrics")
        try await server.stop()
        var haystacks = [("the log", Data(try server.logged().utf8))]
        haystacks.append(("the metrics", Data(metrics?.body ?? [])))
        for name in try names(in: state.folder.file("watchword")) where name != "keys" {
            haystacks.append((name, Data(try state.folder.bytes(of: "watchword/\(name)"))))
        }
        for (place, haystack) in haystacks {
            for (index, secret) in secrets.enumerated() {
                // Six digits can be part of any number, so they prove nothing in the database
                // files.
                if secret.count < 8, place.hasPrefix("watchword.db") { continue }
                let digits = secret.count == 6
                #expect(
                    haystack.range(of: Data((digits ? "\"\(secret)\"" : secret).utf8)) == nil,
                    "secret \(index) in \(place)")
            }
        }
        #expect(haystacks.count >= 4)
    }
}
