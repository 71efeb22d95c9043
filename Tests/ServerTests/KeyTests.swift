import Foundation
import StoreContract
import TestSupport
import Testing
import Verification

@testable import CommandLineInterface
@testable import ServerCommands

struct KeyTests {
    @Test(
        "V-24 keys are rotated under load, even if a rotation is killed; the old key is then useless"
    )
    func rotation() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        var subjects: [EnrolledSubject] = []
        for index in 0..<12 { subjects.append(try await EnrolledSubject("s\(index)", asker)) }
        let first = try state.folder.bytes(of: "watchword/keys")
        let port = server.port
        let load = Task {
            var statuses: Set<Int> = []
            while !Task.isCancelled {
                for subject in subjects {
                    let answer = try await Asker(port, key: key).verify(subject.name, "123456")
                    statuses.insert(answer?.status ?? 0)
                }
            }
            return statuses
        }
        // The first rotation is killed after it has written the new key, but before it finishes.
        let rotation = Process()
        rotation.executableURL = URL(filePath: BuiltProgram.path("watchword-server"))
        rotation.arguments = ["keys", "rotate"]
        rotation.environment = state.environment
        try rotation.start()
        while try state.folder.bytes(of: "watchword/keys") == first {
            try await Task.sleep(for: .milliseconds(5))
        }
        kill(rotation.processIdentifier, SIGKILL)
        try await onOwnThread { rotation.waitUntilExit() }
        let rotated = try await state.run("keys", "rotate")
        #expect(rotated.status == 0)
        #expect(rotated.text.hasPrefix("Key 2 is now current."))
        #expect(try await state.run("keys", "retire").text == "Key 1 is retired.\n")
        load.cancel()
        #expect(try await load.value == [200])
        let list = try await state.run("keys", "list").text
        #expect(list.hasPrefix("key 2  current  12 totp"))
        try await server.stop()
        let again = try await ServerProcess(state)
        let next = try await EnrolledSubject("late", Asker(again.port, key: key))
        let answer = try await Asker(again.port, key: key).verify("late", next.code())
        #expect(answer?.texts["result"] == "accepted")
        try await again.stop()
        // The old key file no longer opens any row.
        try await onOwnThread { try removeFile(state.keyFile) }
        try state.folder.write(first, to: "watchword/keys")
        try setMode(0o600, of: state.keyFile)
        let old = try await ServerProcess(state)
        let refused = try await Asker(old.port, key: key).verify("late", next.code(2))
        #expect(refused?.status == 503)
        try await old.stop()
    }

    @Test(
        "rows that use an old key are listed and prevent its removal; restore reports a missing key"
    )
    func retiring() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker, period: 120)
        let codes = try await asker.ask(
            "POST", "/v1/subjects/bob/credentials", #"{"type":"recovery"}"#,
            headers: "Idempotency-Key: bob\r\n")
        let recovery = try #require(codes?.texts["credential"])
        let enrolment = try await asker.ask(
            "POST", "/v1/subjects/carol/credentials", #"{"type":"secret"}"#)
        let ticket = try #require(enrolment?.texts["ticket"])
        let device = try #require(
            try await asker.ask("POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#)?.texts
        )
        let copy = state.folder.file("copy.db")
        #expect(try await state.run("backup", copy).status == 0)
        #expect(try await state.run("keys", "rotate").status == 0)
        #expect(
            try await state.run("keys", "list").text
                == "key 1  retiring  1 secret, 1 answers\n"
                + "key 2  current  1 totp, 1 recovery\n")
        #expect(try await state.run("keys", "retire").text == "")
        let login = try await asker.ask(
            "POST", "/v1/device/logins",
            #"{"credential":"\#(device["credential"] ?? "")","secret":"\#(device["secret"] ?? "")","#
                + #""rotation_nonce":"AAAAAAAAAAAAAAAAAAAAAA"}"#)
        #expect(login?.texts["result"] == "accepted")
        // One stored response needs the key until its credential ends.
        #expect(try await state.run("keys", "retire").text == "")
        #expect(try await asker.ask("DELETE", "/v1/credentials/\(recovery)")?.status == 204)
        #expect(try await state.run("keys", "retire").text == "Key 1 is retired.\n")
        #expect(try await asker.verify("alice", alice.code())?.texts["result"] == "accepted")
        try await server.stop()
        for name in try names(in: state.folder.file("watchword"))
        where name.hasPrefix("watchword.db") {
            try removeFile(state.folder.file("watchword/\(name)"))
        }
        let restored = try await state.run("restore", "--clock-is-right", copy, "--keep-clients")
        #expect(restored.status == 0)
        #expect(restored.text.contains("Key 1 is missing from "))
        let again = try await ServerProcess(state)
        let refused = try await Asker(again.port, key: key).verify("alice", alice.code(2))
        #expect(refused?.status == 503)
        try await again.stop()
    }

    @Test("after the steps in Operations.md, a key file that leaked opens only older copies")
    func leak() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        let key = try await state.makeKey()
        let asker = try Asker(server.port, key: key)
        let alice = try await EnrolledSubject("alice", asker)
        let enrolment = try await asker.ask(
            "POST", "/v1/subjects/bob/credentials", #"{"type":"secret"}"#)
        let ticket = try #require(enrolment?.texts["ticket"])
        _ = try await asker.ask("POST", "/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#)
        let phone = try #require(enrolment?.texts["credential"])
        let leaked = try state.folder.bytes(of: "watchword/keys")
        let copy = state.folder.file("copy.db")
        #expect(try await state.run("backup", copy).status == 0)

        #expect(try await state.run("keys", "rotate").status == 0)
        #expect(
            try await state.run("keys", "list", "--credentials").text == """
                key 1  retiring  1 secret
                  \(phone)  secret  bob
                key 2  current  1 totp

                """)
        let listed = try await state.run("keys", "list", "--credentials", "--json").text
        #expect(
            listed.split(separator: "\n").dropFirst().first
                == #"{"key":1,"credential":"\#(phone)","type":"secret","subject":"bob"}"#)
        #expect(try await asker.ask("DELETE", "/v1/credentials/\(phone)")?.status == 204)
        #expect(try await state.run("keys", "retire").text == "Key 1 is retired.\n")
        #expect(try await asker.verify("alice", alice.code())?.texts["result"] == "accepted")
        try await server.stop()

        // The file that leaked opens no row of today's database.
        let today = try await theft(leaked)
        try await onOwnThread {
            try FileManager.default.copyItem(atPath: state.database, toPath: today.database)
        }
        #expect(
            try await today.run("keys", "list", "--credentials").text.contains(
                "key 2  missing  1 totp\n  \(alice.credential)  totp  alice\n"))
        let thief = try await ServerProcess(today)
        let refused = try await Asker(thief.port, key: key).verify("alice", alice.code(2))
        #expect(refused?.status == 503)
        try await thief.stop()
        // The file opens the rows of the older backup.
        let before = try await theft(leaked)
        #expect(try await before.run("restore", "--clock-is-right", copy).status == 0)
        #expect(try await before.run("keys", "list").text == "key 1  current  1 totp\n")
    }

    @Test("keys list --credentials lists every credential of a key that is not current")
    func everyCredential() async throws {
        let state = try ServerProcess.State()
        let words = ["serve", "--store", "sqlite:\(state.database)", "--keys", state.keyFile]
        guard case .run(_, let arguments) = try ArgumentParser<ServerVerb>.parse(words) else {
            Issue.record("the arguments were not understood")
            return
        }
        let context = try ServerContext.open(ServerPaths(arguments), making: true)
        let rows = (0...1_001).map { number in
            StoreChange.insertCredential(.sample(number, key: number == 0 ? 1 : 9))
        }
        #expect(try await context.store.commit(rows) == .done)
        context.close()
        let text = try await state.run("keys", "list", "--credentials").text
        let expected = (1...1_001).map { CredentialID.sample($0).text }.sorted()
        let listed = text.split(separator: "\n").filter { $0.hasPrefix("  cr_") }
        #expect(listed.map { String($0.split(separator: " ")[0]) }.sorted() == expected)
    }

    /// A server's folder with the key file that leaked.
    private func theft(_ leaked: [UInt8]) async throws -> ServerProcess.State {
        let state = try ServerProcess.State()
        try await onOwnThread {
            try FileManager.default.createDirectory(
                atPath: state.folder.file("watchword"), withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
        try state.folder.write(leaked, to: "watchword/keys")
        try setMode(0o600, of: state.keyFile)
        return state
    }
}
