import Foundation
import ServiceTranscripts
import TestSupport
import Testing

struct CopyTests {
    @Test("T-10 a restored copy refuses every one-time or recovery code that may have been spent")
    func restoring() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker, period: 120)
        let recovery = try await asker.ask(
            "POST", "/v1/subjects/bob/credentials", #"{"type":"recovery"}"#)
        let answer = try JSONSerialization.jsonObject(with: Data(recovery?.body ?? []))
        let codes = (answer as? [String: Any])?["codes"] as? [String] ?? []
        let copy = state.folder.file("copy.db")
        // The backup is made while the server runs.
        #expect(try await state.run("backup", copy).status == 0)
        #expect(try mode(of: copy) == 0o600)
        #expect(try await state.run("backup", copy).status == 3)
        #expect(try await asker.verify("alice", alice.code())?.texts["result"] == "accepted")
        #expect(try await asker.verify("bob", codes[0])?.texts["result"] == "accepted")
        #expect(try await state.run("restore", "--clock-is-right", copy).status == 3)
        try await server.stop()

        // The server does not use the copy itself, not even in place of the database.
        let served = try await state.run(
            "serve", "--store", "sqlite:\(copy)", "--keys", state.keyFile, "--listen",
            "127.0.0.1:0")
        #expect(served.status == 3)
        for name in try names(in: state.folder.file("watchword"))
        where name.hasPrefix("watchword.db") {
            try removeFile(state.folder.file("watchword/\(name)"))
        }
        let restored = try await state.run("restore", "--clock-is-right", copy, "--keep-clients")
        #expect(restored.status == 0)
        #expect(
            restored.text.hasPrefix(
                "Credentials kept: 1. Ended, to be enrolled again: 1. API keys revoked: 0.\n"
            ))
        #expect(restored.text.contains("watchword-server audit ended --store sqlite:LOST"))
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

    @Test("N-39 a credential revoked after the backup stays revoked if `audit ended` has listed it")
    func ended() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker)
        let bob = try await EnrolledSubject("bob", asker)
        let copy = state.folder.file("copy.db")
        #expect(try await state.run("backup", copy).status == 0)
        #expect(
            try await asker.ask("DELETE", "/v1/credentials/\(bob.credential)")?.status == 204)
        let events = try await asker.ask("GET", "/v1/events?limit=1000")
        try await server.stop()

        // Move the lost database away, as `restore` requires.
        try makeFolder(state.folder.file("lost"))
        try setMode(0o700, of: state.folder.file("lost"))
        for name in try names(in: state.folder.file("watchword"))
        where name.hasPrefix("watchword.db") {
            let bytes = try state.folder.bytes(of: "watchword/\(name)")
            try state.folder.write(bytes, to: "lost/\(name)")
            try setMode(0o600, of: state.folder.file("lost/\(name)"))
            try removeFile(state.folder.file("watchword/\(name)"))
        }
        let lost = "sqlite:\(state.folder.file("lost/watchword.db"))"
        let listed = try await state.run("audit", "ended", "--store", lost)
        #expect(listed.status == 0)
        #expect(listed.text == "\(bob.credential)\n")
        // The filter in Operations.md finds the same credentials.
        try state.folder.write(events?.body ?? [], to: "events.json")
        let filter = #".events[] | select(.kind == "revoked" or .kind == "disabled") | .credential"#
        let jq = try #require(ForeignProgram("jq"))
        #expect(
            try jq.run(["-r", filter, state.folder.file("events.json")]).text == listed.text)

        let list = try state.folder.write(listed.output, to: "ended.txt")
        let restored = try await state.run(
            "restore", "--clock-is-right", copy, "--keep-clients", "--ended", list)
        #expect(
            restored.text
                == "Credentials kept: 1. Ended, to be enrolled again: 1. API keys revoked: 0.\n"
        )
        let again = try await ServerProcess(state)
        let asking = try Asker(again.port, key: key)
        for (subject, wanted) in [(alice, "active"), (bob, "revoked")] {
            let target = "/v1/subjects/\(subject.name)/credentials"
            let answer = try await asking.ask("GET", target)
            #expect(answer?.text.contains("\"state\":\"\(wanted)\"") == true, "\(subject.name)")
        }
        try await again.stop()
    }

    @Test("`audit ended` reports that its list from a damaged database may be incomplete")
    func damaged() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let asker = try Asker(server.port, key: try await state.makeKey())
        for index in 0..<40 { _ = try await EnrolledSubject("s\(index)", asker) }
        try await server.stop()
        var bytes = try state.folder.bytes(of: "watchword/watchword.db")
        for index in 2 * bytes.count / 3..<bytes.count { bytes[index] = 0x5A }
        try state.folder.write(bytes, to: "watchword/watchword.db")
        let listed = try await state.run("audit", "ended")
        #expect(listed.status == 1)
        #expect(
            String(decoding: listed.errors, as: UTF8.self).contains("may be incomplete"))
        try state.folder.write(Array("cr_x\n".utf8), to: "list")
        let refused = try await state.run(
            "restore", "--clock-is-right", state.folder.file("none"), "--ended",
            state.folder.file("list"))
        #expect(refused.status == 3)
        #expect(String(decoding: refused.errors, as: UTF8.self).contains("line 1"))
    }

    @Test(
        "K-82 after a restore, no challenge is valid, and a passkey or device key that had ended stays ended"
    )
    func passkeys() async throws {
        let options = [
            "--rp-id", "mill.example", "--pages", "--audience", SampleDeviceKey.audience,
        ]
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state, arguments: options)
        let key = try await state.makeKey()
        let driver = PasskeyDriver(port: server.port, key: key)
        let (kept, ended) = (try TestPasskey(id: [1]), try TestPasskey(id: [2]))
        try await driver.register(kept)
        let credential = try await driver.register(ended, for: "bob").credential
        let ceremony = try await driver.beginCeremony()
        let pending = try await driver.begin("carol")
        let (keptKey, endedKey) = (try SampleDeviceKey("alice"), try SampleDeviceKey("bob"))
        let keptID = try await driver.register(keptKey, for: "alice")
        let endedID = try await driver.register(endedKey, for: "bob")
        let challenge = try await driver.challenge(keptID)
        let ticket = try await driver.keyTicket(for: "carol")
        let copy = state.folder.file("copy.db")
        #expect(try await state.run("backup", copy).status == 0)
        let asker = try Asker(server.port, key: key)
        for credential in [credential, endedID] {
            let revoked = try await asker.ask("DELETE", "/v1/credentials/\(credential)")
            #expect(revoked?.status == 204)
        }
        try await server.stop()
        for name in try names(in: state.folder.file("watchword"))
        where name.hasPrefix("watchword.db") {
            try removeFile(state.folder.file("watchword/\(name)"))
        }
        let list = try state.folder.write(
            Array("\(credential)\n\(endedID)\n".utf8), to: "ended.txt")
        let restored = try await state.run(
            "restore", "--clock-is-right", copy, "--keep-clients", "--ended", list)
        #expect(restored.status == 0)
        let again = try await ServerProcess(state, arguments: options)
        let driving = PasskeyDriver(port: again.port, key: key)
        #expect(try await driving.finish(ceremony, kept).reason == "challenge")
        let late = try await driving.finish(pending, TestPasskey(id: [3]))
        #expect(late.reason == "revoked")
        #expect(try await driving.signIn(ended, as: "bob").reason == "revoked")
        #expect(try await driving.signIn(kept).result == "accepted")
        #expect(try await driving.finish(challenge, keptKey, of: keptID).result == "denied")
        let refused = try await driving.signIn(endedKey, of: endedID)
        #expect(refused.result == "denied" && refused.text("wipe_reason") != nil)
        #expect(try await driving.signIn(keptKey, of: keptID).result == "accepted")
        await #expect(throws: PasskeyDriver.Unexpected.self) {
            try await driving.register(SampleDeviceKey("carol"), ticket: ticket)
        }
        try await again.stop()
    }
}
