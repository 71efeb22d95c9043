import Foundation
import TestSupport
import Testing

/// Slots of an emulated TPM, on the command line and on a terminal.
@Suite(.enabled(if: EmulatedTPM.isInstalled, "swtpm is not installed"))
struct TPMSlotTests {
    private let tpm: EmulatedTPM
    private let fixture: VaultFixture
    private let options: String

    /// A vault with a passphrase, a recovery key, and a TPM slot that has the PIN 2580.
    init() throws {
        tpm = try EmulatedTPM()
        fixture = try VaultFixture(recoveryKey: true)
        options = "--tpm \(tpm.address)"
        try fixture.folder.write(Array("2580\n".utf8), to: "pin.txt")
        try fixture.folder.write(Array("1111\n".utf8), to: "bad.txt")
        try fixture.run(
            "watchword slot add -q tpm2 --passphrase-file pass.txt --pin-file pin.txt \(options)")
    }

    private func errors(_ outcome: ForeignProgram.Outcome) -> String {
        String(decoding: outcome.errors, as: UTF8.self)
    }

    @Test("a TPM is added and unlocks the vault on a terminal, with two chances to correct the PIN")
    func terminal() throws {
        let adding = try fixture.terminal(
            "watchword slot add tpm2 --passphrase-file pass.txt \(options)")
        try adding.answer([("New PIN for the TPM: ", "1357"), ("New PIN again: ", "1357")])
        #expect(try adding.end() == 0)
        #expect(adding.screen.contains("Added slot 4."))
        let listing = try fixture.terminal("watchword slot list \(options)")
        try listing.answer([("PIN of the TPM: ", "1111"), ("PIN of the TPM: ", "2580")])
        #expect(try listing.end() == 0)
        #expect(listing.screen.contains("3  tpm2  PIN  "))
        // An empty PIN leads to the next method: slot 4, and then the passphrase.
        let giving = try fixture.terminal("watchword list \(options)")
        try giving.answer([
            ("PIN of the TPM: ", ""), ("PIN of the TPM: ", ""),
            ("Passphrase: ", VaultFixture.passphrase),
        ])
        #expect(try giving.end() == 0)
        #expect(giving.screen.contains("Site:me"))
    }

    @Test("a PIN that is not repeated correctly, or that a TPM cannot accept, is refused")
    func badPINs() throws {
        let adding = try fixture.terminal(
            "watchword slot add tpm2 --passphrase-file pass.txt \(options)")
        try adding.answer([("New PIN for the TPM: ", "1357"), ("New PIN again: ", "1358")])
        #expect(try adding.end() == 4)
        #expect(adding.screen.contains("the PINs do not match; nothing was changed"))
        for pin in ["123", String(repeating: "1", count: 33)] {
            try fixture.folder.write(Array(pin.utf8), to: "new.txt")
            let refused = try fixture.run(
                "watchword slot add tpm2 --passphrase-file pass.txt --pin-file new.txt \(options)",
                status: 4)
            #expect(errors(refused).contains("the PIN of a TPM must have 4 to 32 bytes"))
        }
        #expect(try fixture.vault().components(separatedBy: "\nslot ").count == 4)
    }

    @Test(
        "wrong PINs lock the TPM, not the vault: the passphrase and the recovery key still open it")
    func lockOut() throws {
        for left in ["2 attempts", "1 attempt", "0 attempts"] {
            let refused = try fixture.run("watchword list --pin-file bad.txt \(options)", status: 4)
            #expect(errors(refused).contains("wrong PIN; \(left) left"))
        }
        #expect(try !fixture.countsFailures())
        let locked = try fixture.run(
            "watchword list --unlock-with tpm2 --pin-file pin.txt \(options)", status: 4)
        #expect(
            errors(locked).contains(
                "the TPM accepts no PIN after too many failures; the next attempt is possible after at most "
                    + "16 minutes 40 seconds"))
        try fixture.run("watchword list --passphrase-file pass.txt")
        try fixture.run("watchword list --recovery-key-file recovery.txt")
    }

    @Test("if the TPM is missing, different or changed, the reason is reported")
    func otherTPM() throws {
        let other = try EmulatedTPM()
        let refused = try fixture.run(
            "watchword list --unlock-with tpm2 --pin-file pin.txt --tpm \(other.address)", status: 4
        )
        #expect(
            errors(refused).contains("the slot belongs to a different TPM, or this one was cleared")
        )
        let missing = try fixture.run(
            "watchword list --unlock-with tpm2 --tpm device:/nonexistent", status: 6)
        #expect(errors(missing).contains("no TPM 2 was found"))
        // Without --unlock-with, the passphrase is next, but there is no terminal for the prompt.
        let next = try fixture.run("watchword list --tpm device:/nonexistent", status: 4)
        #expect(errors(next).contains("trying the next way to unlock"))
        #expect(errors(next).contains("no terminal to prompt on"))
        try fixture.run(
            "watchword slot add -q tpm2 --pcr7 --no-pin --passphrase-file pass.txt \(options)")
        try fixture.run("watchword slot remove -q 3 --yes --pin-file pin.txt \(options)")
        #expect(try fixture.run("watchword list \(options)").text.contains("Site:me"))
        try tpm.extendPCR7()
        let changed = try fixture.run("watchword list --unlock-with tpm2 \(options)", status: 4)
        #expect(errors(changed).contains("PCR 7 has changed"))
    }

    @Test(
        "without its passphrase, the TPM or the recovery key opens the vault, as check reports")
    func noPassphrase() throws {
        try fixture.run("watchword slot remove -q passphrase --yes --pin-file pin.txt \(options)")
        let check = try fixture.run("watchword check --pin-file pin.txt \(options)")
        #expect(
            check.text.contains(
                "opened by: recovery key (slot 2), TPM 2 with PIN (slot 3)\n"))
        #expect(errors(check).contains("A copy of the vault cannot be unlocked by guessing."))
        let last = try fixture.run(
            "watchword slot remove recovery-key --yes --pin-file pin.txt \(options)", status: 1)
        #expect(errors(last).contains("the last one that opens the vault on any computer"))
        try fixture.run("watchword list --recovery-key-file recovery.txt")
        try fixture.run("watchword list --passphrase-file pass.txt", status: 4)
        #expect(try !fixture.countsFailures())
        // Without the TPM, the command asks for the recovery key.
        let terminal = try fixture.terminal("watchword list --tpm device:/nonexistent")
        try terminal.answer([
            ("Recovery key, as you wrote it down: ", try fixture.line(of: "recovery.txt"))
        ])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("Site:me"))
    }

    @Test("the last passphrase cannot be removed without a recovery key")
    func needsRecoveryKey() throws {
        try fixture.run("watchword slot remove -q recovery-key --yes --passphrase-file pass.txt")
        try fixture.run(
            "watchword slot remove passphrase --yes --passphrase-file pass.txt", status: 1)
        try fixture.run("watchword list --passphrase-file pass.txt")
    }

    @Test("a per-use entry needs a person: a TPM without a PIN does not pass its check")
    func perUse() throws {
        try fixture.run(
            """
            watchword add -q Bank:me --presence per-use:passphrase --secret-file key.txt \
                --passphrase-file pass.txt
            """)
        // The PIN that unlocked the vault counts for one use.
        let code = "watchword code Bank --at 59 \(options)"
        #expect(try fixture.run("\(code) --pin-file pin.txt").text == "287082\n")
        try fixture.run("watchword slot add -q tpm2 --no-pin --passphrase-file pass.txt \(options)")
        try fixture.run("watchword slot remove -q 3 --yes --pin-file pin.txt \(options)")
        let terminal = try fixture.terminal(code)
        try terminal.answer([
            ("enter the passphrase again: ", VaultFixture.passphrase)
        ])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("287082"))
        #expect(try fixture.run("watchword code Site --at 59 \(options)").text == "287082\n")
        try fixture.run(code, status: 4)
    }

    @Test("a TPM without a PIN opens the vault, but changes nothing that opens it")
    func slotsWithoutPIN() throws {
        try fixture.run("watchword slot add -q tpm2 --no-pin --passphrase-file pass.txt \(options)")
        try fixture.run("watchword slot remove -q 3 --yes --passphrase-file pass.txt \(options)")
        try fixture.folder.write(Array("other\n".utf8), to: "other.txt")
        let before = try fixture.vault()
        let new = "--new-passphrase-file other.txt"
        for change in [
            "slot add passphrase \(new)", "slot add recovery-key", "slot add tpm2 --no-pin",
            "slot remove recovery-key --yes", "passphrase --slot 1 \(new)",
        ] {
            let refused = try fixture.run("watchword \(change) \(options)", status: 4)
            #expect(errors(refused).contains("no terminal to prompt on"))
        }
        #expect(try fixture.vault() == before)
        let terminal = try fixture.terminal("watchword passphrase --slot 1 \(new) \(options)")
        let prompt = "To change how the vault is opened, enter the passphrase again: "
        try terminal.answer([(prompt, "guess"), (prompt, VaultFixture.passphrase)])
        #expect(try terminal.end() == 0)
        #expect(terminal.screen.contains("Changed the passphrase."))
    }

    @Test("options that do not apply to a kind of slot are refused")
    func inapplicable() throws {
        for line in [
            "tpm2 --scrypt-log-n 10", "tpm2 --device /dev/x", "fido2 --pcr7",
            "passphrase --no-pin", "recovery-key --pcr7",
        ] {
            let refused = try fixture.run(
                "watchword slot add \(line) --passphrase-file pass.txt", status: 2)
            #expect(errors(refused).contains("does not apply to"), "\(line)")
        }
        try fixture.run("watchword list --tpm libevil.so --pin-file pin.txt", status: 2)
        try fixture.run("watchword list --unlock-with fido2 --pin-file pin.txt", status: 1)
        try fixture.run(
            "watchword list --unlock-with tpm2 --passphrase-file pass.txt", status: 2)
    }

    @Test(
        "the old or the new vault remains if slot add is killed at any system call",
        .enabled(if: ForeignProgram.canTrace, "strace is missing or cannot trace here"))
    func killed() throws {
        let strace = try #require(ForeignProgram("strace"))
        let fixture = try VaultFixture([])
        let vault = fixture.folder.file(".local/share/watchword/vault")
        let original = try fixture.folder.bytes(of: ".local/share/watchword/vault")
        let words = [
            BuiltProgram.path("watchword"), "slot", "add", "tpm2", "--no-pin", "-q", "--vault",
            vault, "--passphrase-file", fixture.folder.file("pass.txt"), "--tpm", tpm.address,
        ]
        let log = fixture.folder.file("log")
        #expect(try strace.run(["-o", log] + words).status == 0)
        let calls = String(decoding: try fixture.folder.bytes(of: "log"), as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("---") && !$0.hasPrefix("+++") }
            .map { String($0.prefix { $0 != "(" }) }
        // The save begins with the lock; every 200th of the earlier calls is enough.
        let first = try #require(calls.lastIndex(of: "flock"))
        var counts: Set<Int> = []
        for index in calls.indices where index >= first || index % 200 == 0 {
            try fixture.run("rm -rf .local/share/watchword/.watchword/by-name")
            try Data(original).write(to: URL(filePath: vault))
            let name = calls[index]
            let number = calls[...index].filter { $0 == name }.count
            let ended = try strace.run(
                ["-o", "/dev/null", "-e", "inject=\(name):signal=KILL:when=\(number)"] + words)
            guard ended.status != 0 else { continue }
            let list = try fixture.run(
                "watchword slot list -q --passphrase-file pass.txt --vault '\(vault)'")
            let count = list.text.split(separator: "\n").count
            counts.insert(count)
            if count == 2 {
                try fixture.run(
                    "watchword list -q --unlock-with tpm2 --vault '\(vault)' \(options)")
            }
        }
        #expect(counts == [1, 2])
    }
}
