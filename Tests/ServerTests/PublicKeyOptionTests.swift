import Foundation
import JSONText
import ServiceTranscripts
import TestSupport
import Testing

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

    private static func variable(_ option: String) -> String {
        "WATCHWORD_" + option.dropFirst(2).uppercased().replacing("-", with: "_")
    }

    @Test("the settings apply, from the command line and from the environment")
    func applied() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(
            state,
            arguments: [
                "--rp-id", "mill.example,old.example", "--rp-name", "Paper Mill", "--origin",
                "https://login.mill.example:8443,https://mill.example,https://old.example",
                "--passkey-algorithms", "ES256,ES384", "--passkey-floor",
                "user_verification=required,backup=step-up",
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
        try await server.stop()
    }

    @Test("the files about trusted makers are checked, and models have names")
    func files() async throws {
        let state = try ServerProcess.State()
        let model = "07070707-0707-0707-0707-070707070707"
        let list = state.folder.file("models.json")
        for (text, words) in [
            ("{}", "not a JSON list"), ("nonsense", "not a JSON list"),
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
}
