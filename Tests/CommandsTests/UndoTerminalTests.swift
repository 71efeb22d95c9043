import TestSupport
import Testing

/// Undoing and merging on a terminal.
@Suite(.serialized)
struct UndoTerminalTests {
    @Test("undo lists the changes and asks; nothing changes unless the answer is yes")
    func confirmed() throws {
        let fixture = try VaultFixture(["A:a --secret-file key.txt", "B:b --secret-file key.txt"])
        try fixture.run("watchword remove -qy A:a --passphrase-file pass.txt")
        let before = try fixture.vault()
        for (answer, status) in [("n", 1), ("", 1), ("y", 0)] as [(String, Int32)] {
            let terminal = try fixture.terminal("watchword undo --passphrase-file pass.txt")
            try terminal.answer([("Undo the last change in this way? [y/N] ", answer)])
            #expect(try terminal.end() == status)
            if status != 0 { #expect(try fixture.vault() == before) }
        }
        let list = try fixture.run("watchword list --passphrase-file pass.txt")
        #expect(list.text == "A:a  totp\nB:b  totp\n")
    }

    @Test("merging a copy with a different key asks for its passphrase")
    func otherKey() throws {
        let fixture = try VaultFixture(["A:a --secret-file key.txt"])
        try fixture.run(
            """
            cd .local/share/watchword; mkdir -m 700 ~/old; cp -p vault ~/old/copy
            printf 'another-horse\\n' >~/new.txt
            watchword add -q Old:o --vault ~/old/copy --secret-file ~/key.txt --passphrase-file ~/pass.txt
            watchword passphrase --scrypt-log-n 10 --passphrase-file ~/pass.txt --new-passphrase-file ~/new.txt
            """)
        let terminal = try fixture.terminal("watchword merge old/copy --passphrase-file new.txt")
        try terminal.answer([("Passphrase of old/copy: ", VaultFixture.passphrase)])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("added: Old:o"))
        #expect(terminal.screen.contains("slot 1 of old/copy (passphrase) was not added"))
        let list = try fixture.run("watchword list --passphrase-file new.txt")
        #expect(list.text == "A:a    totp\nOld:o  totp\n")
        // Without a terminal, the passphrase comes from a file.
        let again = try fixture.run(
            """
            watchword merge old/copy --json -q --passphrase-file new.txt \
                --copy-passphrase-file pass.txt 2>/dev/null
            """)
        #expect(again.text.contains("\"result\":\"already-merged\""))
        try fixture.run("watchword merge old/copy --passphrase-file new.txt", status: 4)
        try fixture.run(
            """
            watchword merge old/copy --passphrase-file new.txt --copy-passphrase-file new.txt
            """, status: 4)
    }

    @Test("a different vault is not merged")
    func otherVault() throws {
        let fixture = try VaultFixture()
        let refused = try fixture.run(
            """
            watchword init -q --vault other --scrypt-log-n 10 --no-recovery-key --passphrase-file pass.txt
            watchword merge other --passphrase-file pass.txt 2>&1
            """, status: 3)
        #expect(refused.text.contains("other: a copy of a different vault"))
    }
}
