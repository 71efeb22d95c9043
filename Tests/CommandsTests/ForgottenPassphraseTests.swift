import Foundation
import TestSupport
import Testing

/// Recovery from a forgotten passphrase with the recovery key on paper.
@Suite(.serialized)
struct ForgottenPassphraseTests {
    private static let new = "remembered-this-time"

    @Test("the recovery key lets the user set a new passphrase, and nothing is lost")
    func rehearsal() throws {
        let fixture = try VaultFixture(
            [
                "Site:me --secret-file key.txt --digits 8",
                "Bank:me --secret-file key.txt --type hotp --counter 7 --on-failure wipe:9",
                "password --secret-file pass.txt --type secret --presence per-use",
            ], recoveryKey: true)
        let listing = "watchword --json list --recovery-key-file recovery.txt"
        let exporting = "watchword export -q --recovery-key-file recovery.txt"
        // The static secret is left out.
        let before = try (fixture.run(listing).text, fixture.run(exporting, status: 1).text)
        let terminal = try fixture.terminal("watchword passphrase --recovery-key --scrypt-log-n 10")
        // The key is typed in lower case with spaces, the first time with a wrong letter.
        let key = try fixture.line(of: "recovery.txt")
        let slip = (key.first == "A" ? "B" : "A") + key.dropFirst()
        try terminal.answer([("as you wrote it down: ", slip)])
        try terminal.waitFor("the recovery key contains a typing error; try again")
        try terminal.answer([
            (
                "as you wrote it down: ",
                key.lowercased().replacingOccurrences(of: "-", with: " ")
            ),
            ("New passphrase: ", Self.new), ("New passphrase again: ", Self.new),
        ])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("Changed the passphrase."))
        // The same commands print the same output with the new passphrase.
        try fixture.folder.write(Array(Self.new.utf8), to: "new.txt")
        let after = try (
            fixture.run("watchword --json list --passphrase-file new.txt").text,
            fixture.run("watchword export -q --passphrase-file new.txt", status: 1).text
        )
        #expect(after == before)
        #expect(before.0.split(separator: "\n").count == 3)
        let revealed = try fixture.run(
            "watchword show password --reveal --passphrase-file new.txt")
        #expect(revealed.text == VaultFixture.passphrase + "\n")
        try fixture.run("watchword list --passphrase-file pass.txt", status: 4)
        try fixture.run("watchword list --recovery-key-file recovery.txt")
    }

    @Test(
        "cancelling the recovery key prompt changes nothing", arguments: ["\n", "\u{4}"])
    func leaving(_ answer: String) throws {
        let fixture = try VaultFixture(recoveryKey: true)
        let before = try fixture.vault()
        let terminal = try fixture.terminal("watchword passphrase --recovery-key")
        try terminal.waitFor("as you wrote it down: ")
        try terminal.type(answer)
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("nothing was changed"))
        #expect(try fixture.vault() == before)
    }

    @Test("check warns if there is no recovery key, and only then")
    func reminder() throws {
        let without = try VaultFixture()
        let check = "watchword check --passphrase-file pass.txt"
        let reminded = try without.run(check)
        #expect(String(decoding: reminded.errors, as: UTF8.self).contains("no recovery key"))
        let json = try without.run("watchword --json check --passphrase-file pass.txt")
        #expect(json.text.contains(#""recovery_key":false"#))
        let with = try VaultFixture(recoveryKey: true)
        #expect(try with.run(check).errors == [])
    }
}
