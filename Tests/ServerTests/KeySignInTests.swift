import DeviceLogin
import Foundation
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

/// The installed programs `watchword key` and `watchword-server`, over TLS with the test's own
/// authority.
@Suite(.serialized) struct KeySignInTests {
    /// The application's view of a login ticket.
    private func redeem(
        _ ticket: String, _ harness: LoginHarness
    ) async throws -> [String: String] {
        let line = ticket.trimmingCharacters(in: .newlines)
        return try await Asker(harness.application.port, key: harness.key).ask(
            "POST", "/v1/logins/redeem", #"{"login":"\#(line)"}"#)?.texts ?? [:]
    }

    /// A text to confirm, in the file that the device reads.
    private func confirmation(
        of text: String, by credential: String, _ harness: LoginHarness
    ) async throws -> String {
        let answer = try await Asker(harness.application.port, key: harness.key).ask(
            "POST", "/v1/challenges",
            #"{"credential":"\#(credential)","purpose":"confirm","text":"\#(text)"}"#)
        let body = Data(try #require(answer).body)
        let facts = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        let expiry = try #require(facts["expires_ms"] as? NSNumber)
        let challenge = try #require(facts["challenge"] as? String)
        let file = "\(challenge)\n\(expiry)\n\(text)\n"
        try harness.folder.write(Array(file.utf8), to: "confirm.txt")
        return harness.folder.file("confirm.txt")
    }

    @Test("a device enrols a key, signs in, confirms a text, is replaced and is revoked")
    func wholeLife() async throws {
        let harness = try await LoginHarness()
        let server = try await harness.keyServer()
        let ticket = try await harness.ticket(#"{"type":"key","presence":"cryptographic"}"#)
        let enrolled = try await harness.run(harness.keyEnrolment)
        #expect(enrolled.status == 0, "\(enrolled.words)")
        #expect(enrolled.words.contains("The key is in the vault."))
        let credential = try #require(ticket["credential"])
        let status = try await harness.run("--json", "key", "status", "mill").text
        #expect(status.contains("\"state\":\"ready\"") && status.contains(credential))
        #expect(status.contains("\"custody\":\"vault\""))

        for _ in 0..<2 {
            let present = try await harness.run("key", "present", "mill")
            #expect(present.status == 0, "\(present.words)")
            let facts = try await redeem(present.text, harness)
            #expect(facts["subject"] == "alice" && facts["credential"] == credential)
            #expect(facts["type"] == "key" && facts["purpose"] == "sign-in")
            #expect(facts["custody"] == "vault" && facts["presence"] == "cryptographic")
            #expect(try await redeem(present.text, harness)["result"] == "denied")
        }

        let text = "Pay 120.00 EUR to Paper Mill"
        let file = try await confirmation(of: text, by: credential, harness)
        let confirmed = try await harness.run(
            "key", "confirm", "mill", "--challenge-file", file, "--yes")
        #expect(
            confirmed.status == 0 && confirmed.words.contains("  | \(text)\n"),
            "\(confirmed.words)")
        let facts = try await redeem(confirmed.text, harness)
        let digest = sha256(Array(text.utf8).span)
        #expect(facts["purpose"] == "confirm")
        #expect(facts["text_sha256"] == Base64URL.encode(digest.span))
        // The same file is presented again, although the challenge is spent.
        let again = try await harness.run(
            "key", "confirm", "mill", "--challenge-file", file, "--yes")
        #expect(again.status == 5 && again.words.contains("the key was kept"), "\(again.words)")
        // The text differs from the text of the application.
        let changed = try await confirmation(of: text, by: credential, harness)
        let bytes = try harness.folder.bytes(of: "confirm.txt")
        let other = String(decoding: bytes, as: UTF8.self).replacing("120", with: "920")
        try harness.folder.write(Array(other.utf8), to: "confirm.txt")
        let refused = try await harness.run(
            "key", "confirm", "mill", "--challenge-file", changed, "--yes")
        #expect(refused.status == 5, "\(refused.words)")

        // A new key replaces the old one, on the device and on the server.
        let next = try await harness.ticket(#"{"type":"key","replaces":"\#(credential)"}"#)
        #expect(try await harness.run(harness.keyEnrolment).status == 0)
        let list = try await harness.run("--json", "list").text
        #expect(list.components(separatedBy: "\"account\"").count == 2, "\(list)")
        let replaced = try await harness.run("key", "present", "mill")
        #expect(
            try await redeem(replaced.text, harness)["credential"] == next["credential"])

        let revoked = try await Asker(harness.application.port, key: harness.key).ask(
            "DELETE", "/v1/credentials/\(next["credential"] ?? "")")
        #expect(revoked?.status == 204)
        let wiped = try await harness.run("key", "present", "mill")
        #expect(wiped.status == 5 && wiped.words.contains("the server revoked it"))
        let state = try await harness.run("--json", "key", "status", "mill").text
        #expect(state.contains("\"state\":\"wiped\"") && state.contains("\"reason\":\"revoked\""))
        #expect(try await harness.run("key", "wipe", "mill", "--yes").status == 0)
        #expect(try await harness.run("list").text == "")
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    @Test("a key and an enrolled secret are not mistaken for each other")
    func kinds() async throws {
        let harness = try await LoginHarness()
        let server = try await harness.keyServer()
        try await harness.ticket(#"{"type":"key"}"#)
        #expect(try await harness.run(harness.keyEnrolment).status == 0)
        let login = try await harness.run("login", "present", "mill")
        #expect(login.status == 1 && login.words.contains("use watchword key"), "\(login.words)")
        try await harness.ticket()
        #expect(try await harness.enrol(harness.keyPort, "Mill:bob").status == 0)
        let key = try await harness.run("key", "present", "bob")
        #expect(key.status == 1 && key.words.contains("not a device key"), "\(key.words)")
        // A ticket for a secret registers no key, and the earlier key still signs.
        try await harness.ticket()
        let refusal =
            "https://localhost:\(harness.keyPort) refused the ticket, which is unknown, already used "
            + "or expired; request a new one\n"
        let wrong = try await harness.run(harness.keyEnrolment)
        #expect(wrong.status == 5 && wrong.words.hasSuffix(refusal), "\(wrong.words)")
        for (ticket, status, words) in [
            ("hello", 3, "is not an enrolment ticket, which begins with wwt_; nothing was sent"),
            ("wwt_AAAA", 5, "refused the ticket, which is incomplete or mistyped"),
            ("wwt_\(String(repeating: "A", count: 43))", 5, refusal),
        ] {
            try harness.folder.write(Array("\(ticket)\n".utf8), to: "ticket.txt")
            for refused in [
                try await harness.enrol(harness.keyPort, "Mill:eve"),
                try await harness.run(harness.keyEnrolment),
            ] {
                #expect(
                    refused.status == status && refused.words.contains(words), "\(refused.words)")
            }
        }
        let earlier = try await harness.run("key", "present", "alice")
        #expect(earlier.status == 0, "\(earlier.words)")
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    @Test("K-80 an enrolment that does not succeed leaves the earlier key in place")
    func failedEnrolment() async throws {
        let harness = try await LoginHarness()
        var server = try await harness.keyServer()
        func credential() async throws -> String? {
            let present = try await harness.run("key", "present", "mill")
            #expect(present.status == 0, "\(present.words)")
            return try await redeem(present.text, harness)["credential"]
        }
        let first = try await harness.ticket(#"{"type":"key"}"#)
        #expect(try await harness.run(harness.keyEnrolment).status == 0)
        #expect(try await server.stop() == 0)
        let second = try await harness.ticket(#"{"type":"key"}"#)
        #expect(try await harness.run(harness.keyEnrolment).status == 6)
        server = try await harness.keyServer()
        #expect(try await credential() == first["credential"])
        // The new key is still in the vault, so it cannot be registered as a key in a TPM.
        let elsewhere = try await harness.run(
            harness.keyEnrolment + ["--custody", "tpm", "--tpm", "device:/nonexistent"])
        #expect(elsewhere.status == 3, "\(elsewhere.words)")
        #expect(elsewhere.words.contains("request a new ticket"))
        #expect(try await harness.run(harness.keyEnrolment).status == 0)
        #expect(try await credential() == second["credential"])
        // A ticket that the server did not issue, and a name that the server refuses.
        try harness.folder.write(
            Array("wwt_\(String(repeating: "A", count: 43))\n".utf8), to: "ticket.txt")
        #expect(try await harness.run(harness.keyEnrolment).status == 5)
        #expect(try await credential() == second["credential"])
        try await harness.ticket(#"{"type":"key"}"#)
        let named = try await harness.run(harness.keyEnrolment + ["--device-name", " laptop"])
        #expect(named.status == 5, "\(named.words)")
        #expect(try await credential() == second["credential"])
        #expect(
            try await harness.run(harness.keyEnrolment + ["--device-name", "laptop"]).status == 0)
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    @Test(
        "K-79 a key in a TPM signs only with that TPM; otherwise, the vault is unchanged",
        .enabled(if: EmulatedTPM.isInstalled, "swtpm is not installed"))
    func inTPM() async throws {
        let harness = try await LoginHarness()
        let server = try await harness.keyServer()
        let tpm = try EmulatedTPM()
        try await harness.ticket(#"{"type":"key"}"#)
        // Without a TPM, --custody tpm does not fall back to the vault.
        let none = ["--tpm", "device:/nonexistent"]
        let refused = try await harness.run(harness.keyEnrolment + ["--custody", "tpm"] + none)
        #expect(refused.status == 6 && refused.words.contains("no TPM 2 was found"))
        #expect(try await harness.run("list").text == "")
        let address = ["--tpm", tpm.address]
        let enrolled = try await harness.run(harness.keyEnrolment + address)
        #expect(enrolled.status == 0, "\(enrolled.words)")
        #expect(enrolled.words.contains("The key is in the TPM."))
        let present = try await harness.run(["key", "present", "mill"] + address)
        #expect(present.status == 0, "\(present.words)")
        let facts = try await redeem(present.text, harness)
        #expect(facts["subject"] == "alice" && facts["custody"] == "tpm")

        let before = try harness.folder.bytes(of: "vault")
        let other = try EmulatedTPM()
        for (wrong, status, words) in [
            (["--tpm", other.address], 4, "made by a different TPM"),
            (none, 6, "no TPM 2 was found"),
        ] as [([String], Int32, String)] {
            let outcome = try await harness.run(["key", "present", "mill"] + wrong)
            #expect(outcome.status == status && outcome.text == "", "\(outcome.words)")
            #expect(outcome.words.contains(words), "\(outcome.words)")
        }
        try tpm.clear()
        let cleared = try await harness.run(["key", "present", "mill"] + address)
        #expect(cleared.status == 4 && cleared.words.contains("this one was cleared"))
        #expect(try harness.folder.bytes(of: "vault") == before)
        // Without a TPM and without --custody, the key goes into the vault.
        try await harness.ticket(#"{"type":"key"}"#)
        let fallback = try await harness.run(harness.keyEnrolment + none)
        #expect(fallback.status == 0 && fallback.words.contains("The key is in the vault."))
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    @Test(
        "a key with a PIN signs only with that PIN, and a wrong PIN reaches no server",
        .enabled(if: EmulatedTPM.isInstalled, "swtpm is not installed"))
    func withPIN() async throws {
        let harness = try await LoginHarness()
        let server = try await harness.keyServer()
        let tpm = try EmulatedTPM()
        try await harness.ticket(#"{"type":"key"}"#)
        let vault = try await harness.run(
            harness.keyEnrolment + ["--pin", "--custody", "vault"])
        #expect(vault.status == 2, "\(vault.words)")
        let pin = ["--pin-file", harness.folder.file("pin"), "--tpm", tpm.address]
        for (text, status) in [("123", 4), ("2580", 0)] as [(String, Int32)] {
            try harness.folder.write(Array("\(text)\n".utf8), to: "pin")
            let enrolled = try await harness.run(harness.keyEnrolment + ["--pin"] + pin)
            #expect(enrolled.status == status, "\(enrolled.words)")
            #expect(
                enrolled.words.contains("in the TPM; it requires the PIN") == (status == 0))
        }
        let status = try await harness.run("--json", "key", "status", "mill").text
        #expect(status.contains(#""pin":"required""#), "\(status)")
        let present = try await harness.run(["key", "present", "mill"] + pin)
        #expect(present.status == 0, "\(present.words)")
        #expect(try await redeem(present.text, harness)["custody"] == "tpm")
        let requests = try server.logged().components(separatedBy: "device/signatures").count
        try harness.folder.write(Array("0852\n".utf8), to: "pin")
        let wrong = try await harness.run(["key", "present", "mill"] + pin)
        #expect(wrong.status == 4 && wrong.text == "", "\(wrong.words)")
        #expect(wrong.words.contains("wrong PIN"), "\(wrong.words)")
        #expect(
            try server.logged().components(separatedBy: "device/signatures").count == requests)
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    @Test(
        "K-79 a helper process that ends, breaks the protocol or lies yields no signature",
        .enabled(if: EmulatedTPM.isInstalled, "swtpm is not installed"))
    func faultyHelper() async throws {
        let harness = try await LoginHarness()
        let server = try await harness.keyServer()
        let tpm = try EmulatedTPM()
        try await harness.ticket(#"{"type":"key"}"#)
        let address = ["--custody", "tpm", "--tpm", tpm.address]
        #expect(try await harness.run(harness.keyEnrolment + address).status == 0)
        let programs = try TemporaryFolder()
        for name in ["watchword", "watchword-courier"] {
            try FileManager.default.copyItem(
                atPath: BuiltProgram.path(name), toPath: programs.file(name))
        }
        let ready = #"printf '\002\000\000\000\001\004'; "#
        let before = try harness.folder.bytes(of: "vault")
        let requests = try server.logged().components(separatedBy: "device/signatures").count
        for (script, message) in [
            ("exit 3", "watchword-token exited"), ("echo hello", "invalid response"),
            (ready + "/usr/bin/head -c 40 > /dev/null; kill -9 $$", "watchword-token exited"),
            // A signature of eight bytes.
            (
                ready + #"printf '\016\000\000\000\004\002\000\000\000\010AAAAAAAA'"#,
                "invalid response"
            ),
        ] {
            let helper = try programs.write(
                Array("#!/bin/sh\n\(script)\n".utf8), to: "watchword-token")
            try setMode(0o700, of: helper)
            let words = harness.words(["key", "present", "mill", "--tpm", tpm.address])
            let environment = harness.environment
            let outcome = try await onOwnThread {
                try ForeignProgram(path: programs.file("watchword"))
                    .run(words, environment: environment)
            }
            #expect(outcome.status == 6 && outcome.text == "", "\(script): \(outcome.words)")
            #expect(outcome.words.contains(message), "\(script): \(outcome.words)")
        }
        #expect(try harness.folder.bytes(of: "vault") == before)
        #expect(
            try server.logged().components(separatedBy: "device/signatures").count == requests)
        let present = try await harness.run(["key", "present", "mill", "--tpm", tpm.address])
        #expect(present.status == 0, "\(present.words)")
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    /// The secrets of a device key that must not leak.
    private func secrets(of key: EnrolledKey, pin: SecretBytes) -> [SecretForms] {
        switch key.holding {
        case .vault(let scalar): return [SecretForms("private key", bytes: scalar.known)]
        case .tpm(_, let authorization):
            return [
                SecretForms("authorization value", bytes: authorization.known),
                SecretForms("PIN", bytes: pin.known),
                SecretForms(
                    "MAC of the PIN", bytes: HMACKey(authorization).secretCode(of: pin).known),
            ]
        }
    }

    @Test(
        "K-83 no private key, authorization value, PIN or ticket is in logs, database or vault file",
        arguments: [false, EmulatedTPM.isInstalled])
    func secrets(isInTPM: Bool) async throws {
        let harness = try await LoginHarness()
        let server = try await harness.keyServer()
        let ticket = try #require(
            try await harness.ticket(#"{"type":"key"}"#)["ticket"])
        let pin = "a PIN that is a whole sentence 1"
        try harness.folder.write(Array("\(pin)\n".utf8), to: "pin")
        let tpm = isInTPM ? try EmulatedTPM() : nil
        var more: [String] = []
        if let tpm { more = ["--tpm", tpm.address, "--pin-file", harness.folder.file("pin")] }
        let enrolled = try await harness.run(
            harness.keyEnrolment + more + (isInTPM ? ["--pin"] : ["--custody", "vault"]))
        #expect(enrolled.status == 0, "\(enrolled.words)")
        let present = try await harness.run(["key", "present", "mill"] + more)
        #expect(present.status == 0, "\(present.words)")
        let vault = try Vault.unlock(
            at: harness.folder.file("vault"), with: .passphrase(SecretBytes(text: "pass")))
        let entry = try #require(vault.entries.first)
        let content = try vault.open(entry.id, proof: try vault.proofOfUnlocking(for: entry.id))
        let key = try EnrolledKey(content)
        try #require(key.holding.isInTPM == isInTPM)
        let secrets =
            secrets(of: key, pin: SecretBytes(text: pin))
            + [SecretForms("ticket", bytes: Array(ticket.utf8))]
        var places = [
            ("vault", try harness.folder.bytes(of: "vault")),
            ("output", enrolled.output + enrolled.errors + present.output + present.errors),
            ("log", Array(try server.logged().utf8)),
            ("application's log", Array(try harness.application.logged().utf8)),
        ]
        for name in try names(in: harness.state.folder.file("watchword")) {
            places.append((name, try harness.state.folder.bytes(of: "watchword/\(name)")))
        }
        #expect(places.count > 5)
        for (name, content) in places {
            #expect(!content.isEmpty || !["vault", "watchword.db"].contains(name), "\(name)")
            for secret in secrets { #expect(!secret.isIn(content), "\(secret.name): \(name)") }
        }
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }
}
