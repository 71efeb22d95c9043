import Foundation
import TestSupport
import Testing

/// `add` on a terminal: the prompts, and the first code.
@Suite(.serialized)
struct AddTerminalTests {
    private static let uri =
        "otpauth://totp/Mail:carol?secret=\(VaultFixture.key)&issuer=Mail&digits=8"

    private func add(_ arguments: String, _ dialogue: [(question: String, answer: String)])
        throws -> (fixture: VaultFixture, screen: String, status: Int32)
    {
        let fixture = try VaultFixture([])
        let terminal = try fixture.terminal("watchword add \(arguments) --passphrase-file pass.txt")
        try terminal.answer(dialogue)
        let status = try terminal.end()
        #expect(!terminal.screen.contains(VaultFixture.key))
        return (fixture, terminal.screen.replacing("\r\n", with: "\n"), status)
    }

    @Test("a URI pasted at the prompt supplies everything, including the name")
    func pastedURI() throws {
        let (fixture, screen, status) = try add("", [("URI: ", Self.uri)])
        #expect(status == 0)
        #expect(screen.contains("Added Mail:carol."))
        #expect(screen.firstMatch(of: /valid for [^\n]*:\n\d{8}\n/) != nil)
        let list = try fixture.run("watchword list --passphrase-file pass.txt")
        #expect(list.text == "Mail:carol  totp, 8 digits\n")
    }

    @Test("a name in the arguments overrides the name in a pasted URI")
    func pastedURIWithName() throws {
        let (_, screen, status) = try add("Post:me", [("URI: ", "  " + Self.uri + " ")])
        #expect(status == 0)
        #expect(screen.contains("Added Post:me."))
    }

    @Test("options that a pasted URI specifies are refused, and nothing is added")
    func pastedURIWithOptions() throws {
        let (fixture, screen, status) = try add("--digits 6", [("URI: ", Self.uri)])
        #expect(status == 2)
        #expect(screen.contains("--digits is specified by the URI"))
        #expect(try fixture.run("watchword list -q --passphrase-file pass.txt").text == "")
    }

    @Test("a part of an export pasted at the prompt is refused with advice")
    func pastedExport() throws {
        let (_, screen, status) = try add("x", [("URI: ", "otpauth-migration://offline?data=AA")])
        #expect(status == 3)
        #expect(screen.contains("use watchword import"))
        #expect(!screen.contains("data="))
    }

    @Test("the name is asked for if neither the arguments nor a URI contain it")
    func askedName() throws {
        let (_, screen, status) = try add(
            "", [("URI: ", VaultFixture.key), ("Name (issuer:account): ", "Shop:me")])
        #expect(status == 0)
        #expect(screen.contains("Added Shop:me."))
        let (_, refusal, refused) = try add(
            "", [("URI: ", VaultFixture.key), ("Name (issuer:account): ", " ")])
        #expect(refused == 2)
        #expect(refusal.contains("NAME, --account TEXT"))
    }

    @Test("the prompt for a hexadecimal key says that it is hexadecimal")
    func hexadecimal() throws {
        let (_, screen, status) = try add(
            "Shop:me --encoding hex",
            [("Key (hexadecimal): ", "3132333435363738393031323334353637383930")])
        #expect(status == 0)
        #expect(screen.contains("Added Shop:me."))
    }

    @Test("the first code is the entry's current code")
    func firstCode() throws {
        let (fixture, screen, status) = try add(
            "Shop:me --period 100000000", [("URI: ", VaultFixture.key)])
        #expect(status == 0)
        let code = try fixture.run("watchword code Shop --passphrase-file pass.txt").text
        #expect(screen.hasSuffix(":\n" + code))
    }

    @Test(
        "no first code is printed if it is suppressed, needs a check or would use up a counter",
        arguments: ["--quiet", "--json", "--presence per-use", "--type hotp", ">/dev/null"])
    func noFirstCode(_ arguments: String) throws {
        let (_, screen, status) = try add(
            "Shop:me \(arguments)", [("URI: ", VaultFixture.key)])
        #expect(status == 0)
        #expect(screen.firstMatch(of: /\d{6}/) == nil)
        #expect(!screen.contains("valid for"))
    }
}
