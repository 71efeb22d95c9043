import Foundation
import TestSupport
import Testing

/// Slots of an authenticator in software, on the command line and on a terminal.
struct AuthenticatorSlotTests {
    private let fixture: VaultFixture

    /// A vault, and a copy of `watchword` whose helper has an authenticator with the PIN 1234.
    init() throws {
        fixture = try VaultFixture(recoveryKey: true)
        try fixture.run(
            """
            cp "$(command -v watchword)" .
            cp "$(dirname "$(command -v watchword)")/software-authenticator" watchword-token
            echo 1234 >pin.txt
            """)
        try connect("seed one\npin 1234\n")
    }

    private func connect(_ settings: String) throws {
        try fixture.folder.write(Array(settings.utf8), to: "authenticator")
    }

    private func errors(_ outcome: ForeignProgram.Outcome) -> String {
        String(decoding: outcome.errors, as: UTF8.self)
    }

    private func add(_ options: String = "--pin-file pin.txt") throws {
        let added = try fixture.run(
            "./watchword slot add fido2 --passphrase-file pass.txt \(options)")
        #expect(errors(added).contains("Touch the authenticator (1 of 2).\n"))
        #expect(errors(added).contains("Touch the authenticator (2 of 2).\n"))
        #expect(errors(added).contains("Added slot 3.\n"))
    }

    @Test("an authenticator unlocks the vault with its PIN and a touch")
    func pin() throws {
        try add()
        let terminal = try fixture.terminal("./watchword slot list")
        try terminal.answer([("PIN of the authenticator: ", "9999")])
        try terminal.waitFor("wrong PIN; 7 attempts left")
        try terminal.answer([("PIN of the authenticator: ", "1234")])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("Touch the authenticator."))
        #expect(terminal.screen.contains("3  fido2  PIN  "))
        // The request for a touch appears even with --quiet.
        let quiet = try fixture.run("./watchword list -q --pin-file pin.txt")
        #expect(errors(quiet) == "Touch the authenticator.\n")
    }

    @Test("without a PIN, a touch unlocks the vault and passes the check of a use")
    func touchOnly() throws {
        try connect("seed one\n")
        try add("--no-pin")
        try fixture.run(
            """
            ./watchword add -q Bank:me --presence per-use:passphrase --secret-file key.txt \
                --passphrase-file pass.txt
            """)
        #expect(try fixture.run("./watchword code Bank --at 59").text == "287082\n")
        // The second entry of an export needs a second touch.
        try fixture.run(
            "./watchword edit -q Site --presence per-use:passphrase --passphrase-file pass.txt"
        )
        let export = try fixture.run("./watchword export -q")
        #expect(errors(export).components(separatedBy: "Touch the authenticator.").count == 3)
        let check = try fixture.run("./watchword check -q")
        #expect(
            check.text.contains(
                "opened by: passphrase (slot 1), recovery key (slot 2), "
                    + "FIDO2 authenticator, touch only (slot 3)\n"))
    }

    @Test("an authenticator that is missing, different or not touched is reported")
    func refused() throws {
        try add()
        try connect("seed two\npin 1234\n")
        let list = "./watchword list --unlock-with fido2 --pin-file pin.txt"
        let other = try fixture.run(list, status: 4)
        #expect(errors(other).contains("the slot belongs to a different authenticator"))
        try fixture.run("rm authenticator")
        let missing = try fixture.run(list, status: 6)
        #expect(errors(missing).contains("no FIDO2 authenticator is connected"))
        for (fault, status, sentence) in [
            ("untouched", 4, "nobody touched the authenticator in time"),
            ("declined", 4, "the authenticator declined"),
            ("garbage", 6, "the authenticator sent an invalid response"),
            ("noSecret", 6, "the authenticator does not support hmac-secret"),
            // The authenticator returns a different secret than when the slot was added.
            ("changingSecret", 4, "the device's secret does not open its slot"),
        ] as [(String, Int32, String)] {
            try connect("seed one\npin 1234\nfault \(fault)\n")
            let outcome = try fixture.run(list, status: status)
            #expect(errors(outcome).contains(sentence), "\(fault): \(errors(outcome))")
        }
        try connect("seed one\npin 1234\nretries 0\n")
        let blocked = try fixture.run(list, status: 4)
        #expect(errors(blocked).contains("must be reset"))
        #expect(try !fixture.countsFailures())
        try fixture.run("rm watchword-token")
        let none = try fixture.run(list, status: 6)
        #expect(errors(none).contains("watchword-token is not installed beside watchword"))
    }

    @Test("an authenticator without a PIN cannot be added with a PIN")
    func noPINSet() throws {
        try connect("seed one\n")
        let refused = try fixture.run(
            "./watchword slot add fido2 --passphrase-file pass.txt --pin-file pin.txt", status: 4)
        #expect(errors(refused).contains("the authenticator has no PIN; set one, or use --no-pin"))
        #expect(try fixture.vault().components(separatedBy: "\nslot ").count == 3)
    }
}
