import Foundation
import TestSupport
import Testing

/// Changing passphrases and recovery keys on a terminal.
@Suite(.serialized)
struct SlotTerminalTests {
    private static let new = "another-horse"

    /// The lines of the vault file with sealed secrets.
    private func sealed(_ vault: String) -> [Substring] {
        vault.split(separator: "\n").filter { $0.hasPrefix("sealed ") }
    }

    @Test("changing the passphrase reseals every secret; the old passphrase then opens no file")
    func changed() throws {
        let fixture = try VaultFixture(["A:a --secret-file key.txt", "B:b --secret-file key.txt"])
        let before = try fixture.vault()
        let terminal = try fixture.terminal("watchword passphrase --scrypt-log-n 10")
        try terminal.answer([
            ("Passphrase: ", VaultFixture.passphrase), ("New passphrase: ", Self.new),
            ("New passphrase again: ", Self.new),
        ])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("Changed the passphrase."))
        let old = Set(sealed(before))
        #expect(old.count == 2)
        #expect(try old.isDisjoint(with: sealed(fixture.vault())))
        // Try the old passphrase on the vault and on every file that was saved beside it.
        let tried = try fixture.run(
            """
            cd .local/share/watchword
            find . -type f > ~/files
            while read -r file; do
                cp "$file" ~/kept; chmod 600 ~/kept
                watchword list --vault ~/kept --passphrase-file ~/pass.txt 2>/dev/null && echo "$file opens"
            done < ~/files
            echo "tried $(wc -l < ~/files)"
            exec watchword list --passphrase-file ~/pass.txt 2>&1
            """, status: 4)
        #expect(!tried.text.contains("opens\n"))
        #expect(tried.text.contains(/tried ([2-9]|[0-9]{2,})\n/))
        #expect(tried.text.contains("wrong passphrase"))
        try fixture.folder.write(Array(Self.new.utf8), to: "new.txt")
        #expect(try fixture.run("watchword list --passphrase-file new.txt").text.contains("B:b"))
    }

    @Test("rekey reseals every secret and keeps the passphrase; passphrase --keep-key reseals none")
    func rekeyed() throws {
        let fixture = try VaultFixture(["A:a --secret-file key.txt"])
        let before = try fixture.vault()
        let done = try fixture.run("watchword rekey --passphrase-file pass.txt 2>&1")
        #expect(done.text == "The vault has a new key.\n")
        let rekeyed = sealed(try fixture.vault())
        #expect(rekeyed.count == 1 && rekeyed != sealed(before))
        try fixture.folder.write(Array(Self.new.utf8), to: "new.txt")
        try fixture.run(
            """
            watchword passphrase --keep-key --scrypt-log-n 10 --passphrase-file pass.txt \
                --new-passphrase-file new.txt
            """)
        #expect(sealed(try fixture.vault()) == rekeyed)
        #expect(try fixture.run("watchword list --passphrase-file new.txt").text.contains("A:a"))
    }

    @Test("if a recovery key cannot be printed, neither it nor a new vault is saved")
    func fullDevice() throws {
        let fixture = try VaultFixture()
        let before = try fixture.vault()
        for json in ["", "--json "] {
            let added = try fixture.run(
                "watchword \(json)slot add recovery-key --passphrase-file pass.txt 2>&1 >/dev/full",
                status: 6)
            #expect(added.text.contains("No space left on device"))
            #expect(try fixture.vault() == before)
            try fixture.run(
                """
                watchword \(json)init --vault new/vault --scrypt-log-n 10 --passphrase-file pass.txt \
                    2>/dev/null >/dev/full
                """, status: 6)
            try fixture.run("ls new/vault 2>/dev/null", status: 2)
        }
        // A recovery key written to a file unlocks the vault.
        try fixture.run("watchword slot add recovery-key --passphrase-file pass.txt -q >new.txt")
        try fixture.run("watchword list --recovery-key-file new.txt")
    }

    @Test("a warning tells the user to discard a printed recovery key that was not saved")
    func notSaved() throws {
        let fixture = try VaultFixture()
        let failed = try fixture.run(
            """
            printf 'no folder' >file
            watchword init --vault file/vault --scrypt-log-n 10 --passphrase-file pass.txt 2>&1
            """, status: 3)
        #expect(failed.text.contains("discard the recovery key that was printed"))
    }

    @Test(
        "a new passphrase that is not repeated correctly is not set",
        arguments: ["other\n", "\n", "\u{4}", "\u{3}"])
    func unchanged(_ again: String) throws {
        let fixture = try VaultFixture()
        let before = try fixture.vault()
        let terminal = try fixture.terminal("watchword passphrase --scrypt-log-n 10")
        try terminal.answer([
            ("Passphrase: ", VaultFixture.passphrase), ("New passphrase: ", Self.new),
        ])
        try terminal.waitFor("New passphrase again: ")
        try terminal.type(again)
        #expect(try terminal.end() != 0)
        #expect(try fixture.vault() == before)
        try fixture.run("watchword list --passphrase-file pass.txt")
    }

    @Test("a slot is removed after confirmation, but never the last one")
    func removed() throws {
        let fixture = try VaultFixture(recoveryKey: true)
        let refusing = try fixture.terminal("watchword slot remove 2 --passphrase-file pass.txt")
        try refusing.answer([("Remove slot 2 (recovery-key)? [y/N] ", "n")])
        #expect(try refusing.end() == 1)
        let kept = try fixture.run("watchword slot list --passphrase-file pass.txt")
        #expect(kept.text.contains("2  recovery-key"))
        let agreeing = try fixture.terminal("watchword slot remove 2 --passphrase-file pass.txt")
        try agreeing.answer([("Remove slot 2 (recovery-key)? [y/N] ", "y")])
        #expect(try agreeing.end() == 0)
        try fixture.run("watchword list --recovery-key-file recovery.txt", status: 4)
        // The last slot is refused before the prompt.
        let last = try fixture.terminal("watchword slot remove 1 --passphrase-file pass.txt")
        #expect(try last.end() == 1)
        #expect(!last.screen.contains("[y/N]"))
        #expect(
            last.screen.contains(
                "this slot is the last one that opens the vault on any computer; add a recovery key or "
                    + "passphrase first"))
        try fixture.run("watchword list --passphrase-file pass.txt")
    }

    @Test("the recovery key's slot cannot be removed if it is the only one")
    func recoveryKeyAlone() throws {
        let fixture = try VaultFixture(recoveryKey: true)
        let outcome = try fixture.run(
            "watchword slot remove -y 1 --recovery-key-file recovery.txt 2>&1")
        let warning =
            "watchword: warning: without this passphrase, only the recovery key opens the vault; if you "
            + "lose it, the vault is lost\n"
        #expect(outcome.text.hasSuffix(warning + "Removed slot 1.\n"))
        try fixture.run("watchword slot remove -y 2 --recovery-key-file recovery.txt", status: 1)
        // The passphrase command adds a passphrase if there is none.
        let terminal = try fixture.terminal(
            "watchword passphrase --scrypt-log-n 10 --recovery-key-file recovery.txt")
        try terminal.answer([
            ("New passphrase: ", Self.new), ("New passphrase again: ", Self.new),
        ])
        #expect(try terminal.end() == 0)
        try fixture.folder.write(Array(Self.new.utf8), to: "new.txt")
        try fixture.run("watchword list --passphrase-file new.txt")
    }

    @Test("slot add asks twice for a new passphrase; the old and the new passphrase open the vault")
    func added() throws {
        let fixture = try VaultFixture()
        let terminal = try fixture.terminal("watchword slot add passphrase --scrypt-log-n 10")
        try terminal.answer([
            ("Passphrase: ", VaultFixture.passphrase), ("New passphrase: ", Self.new),
            ("New passphrase again: ", Self.new),
        ])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("Added slot 2."))
        for passphrase in [VaultFixture.passphrase, Self.new] {
            let listing = try fixture.terminal("watchword slot list")
            try listing.answer([("Passphrase: ", passphrase)])
            #expect(try listing.end() == 0)
            #expect(listing.screen.contains("2  passphrase  scrypt 2^10"))
        }
    }

    @Test("a recovery key is added, shown once and verified, and unlocks the vault")
    func recoveryKeyAdded() throws {
        let fixture = try VaultFixture()
        let terminal = try fixture.terminal(
            "watchword slot add recovery-key --passphrase-file pass.txt")
        try terminal.waitFor("as you wrote it down: ")
        let pattern = /[A-Z2-7]{4}(-[A-Z2-7]{4}){13}/
        let key = try #require(terminal.screen.firstMatch(of: pattern)?.output.0)
        terminal.clear()
        try terminal.type(key + "\n")
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("The recovery key is correct."))
        let opening = try fixture.terminal("watchword list --recovery-key")
        try opening.waitFor("as you wrote it down: ")
        #expect(try opening.settings().echoes == false)
        try opening.type(key + "\n")
        #expect(try opening.end() == 0)
        #expect(!opening.screen.contains(key.prefix(9)))
        #expect(opening.screen.contains("Site:me"))
    }
}
