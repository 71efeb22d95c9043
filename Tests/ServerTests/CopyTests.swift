import Foundation
import TestSupport
import Testing

struct CopyTests {
    @Test("T-10 a restored copy takes no code, secret or recovery code that may have been spent")
    func restoring() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker)
        let recovery = try await asker.ask(
            "POST", "/v1/subjects/bob/credentials", #"{"type":"recovery"}"#)
        let answer = try JSONSerialization.jsonObject(with: Data(recovery?.body ?? []))
        let codes = (answer as? [String: Any])?["codes"] as? [String] ?? []
        let copy = state.folder.file("copy.db")
        // While the server is in use.
        #expect(try await state.run("backup", copy).status == 0)
        #expect(try mode(of: copy) == 0o600)
        #expect(try await state.run("backup", copy).status == 3)
        #expect(try await asker.verify("alice", alice.code())?.texts["result"] == "accepted")
        #expect(try await asker.verify("bob", codes[0])?.texts["result"] == "accepted")
        #expect(try await state.run("restore", copy).status == 3)
        try await server.stop()

        // The copy itself is not served, and does not get in by being put in the database's place.
        let served = try await state.run(
            "serve", "--store", "sqlite:\(copy)", "--keys", state.keyFile, "--listen",
            "127.0.0.1:0")
        #expect(served.status == 3)
        for name in try names(in: state.folder.file("watchword"))
        where name.hasPrefix("watchword.db") {
            try removeFile(state.folder.file("watchword/\(name)"))
        }
        let restored = try await state.run("restore", copy, "--keep-clients")
        #expect(restored.status == 0)
        #expect(
            restored.text
                == "1 credentials go on, 1 ended and have to be enrolled anew, 0 API keys were revoked.\n"
        )
        let again = try await ServerProcess(state)
        let asking = try Asker(again.port, key: key)
        for code in [alice.code(), alice.code(2)] {
            #expect(try await asking.verify("alice", code)?.texts["result"] == "denied")
        }
        for code in codes {
            #expect(try await asking.verify("bob", code)?.texts["result"] == "denied")
        }
        #expect(try await state.run("audit", "verify").status == 0)
        try await again.stop()
    }
}
