import Foundation
import ServiceTranscripts
import TestSupport
import Testing
import WatchwordCoding

/// The options of `serve` about passkeys and device keys.
struct PublicKeyOptionTests {
    @Test(
        "K-05 K-06 the server does not start with a setting that no browser or device can match",
        arguments: [
            ("--rp-id", "Mill.example"), ("--rp-id", "https://mill.example"),
            ("--rp-id", "mill.example."), ("--rp-id", "192.0.2.1"),
            ("--origin", "https://mill.example/"), ("--origin", "https://mill.example."),
            ("--origin", "http://mill.example"), ("--origin", "https://MILL.example"),
            ("--origin", "https://mill.example:443"), ("--origin", "https://other.example"),
            ("--origin", "https://mill.example.evil"), ("--origin", "https://emill.example"),
            ("--origin", "https://mill.example,"), ("--origin", "android:apk-key-hash:abc"),
            ("--top-origin", "https://shop.example/a"),
            ("--passkey-algorithms", "ES256,HS256"), ("--passkey-floor", "backup=all"),
            ("--passkey-floor", "backup"),
        ])
    func refused(option: String, value: String) async throws {
        let state = try ServerProcess.State()
        let domain = option == "--rp-id" ? [] : ["--rp-id", "mill.example"]
        let program = ForeignProgram(path: BuiltProgram.path("watchword-server"))
        let environment = state.environment
        for (arguments, more, name) in [
            ([option, value], [:], option),
            (
                [], [Self.variable(option): value],
                Self.variable(option)
            ),
        ] as [([String], [String: String], String)] {
            let outcome = try await onOwnThread {
                try program.run(
                    ["serve"] + domain + arguments, environment: environment.merging(more) { $1 })
            }
            #expect(outcome.status == 2, "\(outcome.words)")
            #expect(outcome.words.contains("\(name) must be"), "\(outcome.words)")
        }
        #expect(!FileManager.default.fileExists(atPath: state.database))
    }

    @Test("the pages to which links lead must be in the domain of new passkeys")
    func links() async throws {
        let state = try ServerProcess.State()
        let program = ForeignProgram(path: BuiltProgram.path("watchword-server"))
        let environment = state.environment
        let domains = ["--rp-id", "new.example,old.example"]
        for origins in [
            "https://old.example,https://new.example",
            "android:apk-key-hash:\(String(repeating: "A", count: 43)),https://old.example",
        ] {
            let outcome = try await onOwnThread {
                try program.run(
                    ["serve", "--pages", "--origin", origins] + domains, environment: environment)
            }
            #expect(outcome.status == 2, "\(outcome.words)")
            #expect(
                outcome.words.contains("--origin must be a list that begins with an origin of new"),
                "\(outcome.words)")
        }
        // Without --pages, the order of the origins does not matter.
        let server = try await ServerProcess(
            state, arguments: domains + ["--origin", "https://old.example,https://new.example"])
        try await server.stop()
    }

    private static func variable(_ option: String) -> String {
        "WATCHWORD_" + option.dropFirst(2).uppercased().replacing("-", with: "_")
    }

    @Test("settings from the command line and from the environment are applied")
    func applied() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(
            state,
            arguments: [
                "--rp-id", "mill.example,old.example", "--rp-name", "Paper Mill", "--origin",
                "https://login.mill.example:8443,https://mill.example,https://old.example",
                "--passkey-algorithms", "ES256,ES384", "--passkey-floor",
                "user_verification=required,backup=step-up", "--audience",
                "\(SampleDeviceKey.audience),https://other.example:8443",
            ], environment: ["WATCHWORD_PAGES": "1", "WATCHWORD_TOP_ORIGIN": "https://a.example"])
        let key = try await state.makeKey()
        let driver = PasskeyDriver(port: server.port, key: key)
        let begun = try await driver.begin()
        #expect(begun.options?["rp"]?["name"]?.string == "Paper Mill")
        #expect(begun.options?["rp"]?["id"]?.string == "mill.example")
        #expect(begun.options?["pubKeyCredParams"]?.elements?.count == 2)
        let link = try await driver.issueTicket().text("link")
        #expect(link?.hasPrefix("https://login.mill.example:8443/ui/enrol#wwt_") == true)
        var passkey = try TestPasskey()
        (passkey.isCrossOrigin, passkey.topOrigin) = (true, "https://a.example")
        #expect(try await driver.finish(begun, passkey).result == "accepted")
        let weak = #","policy":{"backup":"any"}"#
        let refused = try await driver.send(
            .application, "/v1/ceremonies", #"{"type":"passkey"\#(weak)}"#)
        #expect(refused.problem == "weak-policy")
        for address in [SampleDeviceKey.audience, "https://other.example:8443"] {
            var key = try SampleDeviceKey(address)
            key.audience = address
            let id = try await driver.register(key, for: "bob")
            #expect(try await driver.signIn(key, of: id).result == "accepted", "\(address)")
        }
        try await server.stop()
    }

    @Test("the files about trusted makers are checked, and the name of a listed model is reported")
    func files() async throws {
        let state = try ServerProcess.State()
        let model = "07070707-0707-0707-0707-070707070707"
        let list = state.folder.file("models.json")
        for (text, words) in [
            ("{}", "not a JSON list"),
            ("nonsense", "see /usr/share/doc/watchword-server/Operations.md\n"),
            ("[1]", "element 1 needs"), (#"[{"aaguid":"\#(model)"}]"#, "element 1 needs"),
            (#"[{"aaguid":"\#(model)x","name":"Key"}]"#, "element 1 needs"),
            (#"[{"aaguid":"\#(model)","name":"Key","later":1}]"#, "element 1 needs"),
            (
                #"[{"aaguid":"\#(model)","name":"A"},{"aaguid":"\#(model)","name":"B"}]"#,
                "element 2 needs"
            ),
            (#"[{"aaguid":"\#(model)","name":"A","roots":"models.json"}]"#, "no PEM certificate"),
            (#"[{"aaguid":"\#(model)","name":"A","roots":"none.pem"}]"#, "none.pem: no such file"),
        ] {
            try state.folder.write(Array(text.utf8), to: "models.json")
            let outcome = try await state.run(
                "serve", "--rp-id", "mill.example", "--authenticators", list)
            #expect(outcome.status == 3 && outcome.words.contains(words), "\(outcome.words)")
        }
        let damaged = try await state.run(
            "serve", "--rp-id", "mill.example", "--attestation-roots", list)
        #expect(damaged.status == 3 && damaged.words.contains("no PEM certificate"))
        let named = #"[{"aaguid":"\#(model)","name":"Mill Key 5"}]"#
        try state.folder.write(Array(named.utf8), to: "models.json")
        let server = try await ServerProcess(
            state, arguments: ["--rp-id", "mill.example", "--authenticators", list])
        let driver = PasskeyDriver(port: server.port, key: try await state.makeKey())
        var passkey = try TestPasskey()
        passkey.model = [UInt8](repeating: 7, count: 16)
        let reply = try await driver.finish(try await driver.begin(), passkey)
        #expect(reply.text("authenticator") == "Mill Key 5")
        try await server.stop()
    }

    @Test(
        "a passkey is trusted if its maker's certificate, and its model, are in the server's files")
    func trusted() async throws {
        let state = try ServerProcess.State()
        let (maker, other) = try await onOwnThread {
            (
                try TestMaker("maker", in: state.folder), try TestMaker("other", in: state.folder)
            )
        }
        let key = try await state.makeKey()
        var number: UInt8 = 0
        /// The server's attestation result for the maker's passkey of model 7, with these files.
        func attestation(
            _ arguments: [String], list: String? = nil
        ) async throws -> String? {
            number += 1
            var arguments = ["--rp-id", "mill.example"] + arguments
            if let list {
                let path = try state.folder.write(Array("[\(list)]".utf8), to: "models.json")
                arguments += ["--authenticators", path]
            }
            let server = try await ServerProcess(state, arguments: arguments)
            let driver = PasskeyDriver(port: server.port, key: key)
            let model = [UInt8](repeating: 7, count: 16)
            let passkey = try maker.passkey(id: [number], model: model)
            let policy = #","policy":{"attestation":"trusted"}"#
            let strict = try await driver.finish(try await driver.begin("alice", policy), passkey)
            if strict.result == "denied" { #expect(strict.reason == "attestation-untrusted") }
            let reply =
                strict.result == "accepted"
                ? strict : try await driver.finish(try await driver.begin(), passkey)
            try await server.stop()
            return reply.text("attestation")
        }
        /// An element of the list of models.
        func model(_ digit: Int, roots: String? = nil) -> String {
            let id = [8, 4, 4, 4, 12].map { String(repeating: "0\(digit)", count: $0 / 2) }
                .joined(separator: "-")
            let more = roots.map { #","roots":"\#($0)""# } ?? ""
            return #"{"aaguid":"\#(id)","name":"Mill Key \#(digit)"\#(more)}"#
        }
        let roots = ["--attestation-roots", maker.root]
        #expect(try await attestation([]) == "unverified")
        #expect(try await attestation(roots) == "trusted")
        #expect(try await attestation(["--attestation-roots", other.root]) == "unverified")
        #expect(try await attestation(roots, list: model(7)) == "trusted")
        #expect(try await attestation(roots, list: model(8)) == "unverified")
        #expect(try await attestation(roots, list: model(7, roots: "other.pem")) == "unverified")
        #expect(try await attestation([], list: model(7, roots: "maker.pem")) == "trusted")
    }
}
