import Foundation
import TestSupport
import Testing

/// Commands with bound entries, on their device and on a different device.
struct BoundCommandTests {
    private let fixture: VaultFixture
    private let elsewhere = "export XDG_STATE_HOME=$PWD/other; "
    private let vault = ".local/share/watchword/vault"

    init() throws {
        fixture = try VaultFixture([
            "GitHub:alice --secret-file key.txt --this-device=file",
            """
            Bank:bob --secret-file key.txt --type hotp --counter 7 --this-device=file \
                --presence per-use:passphrase
            """,
            "Mail:eve --secret-file key.txt",
        ])
    }

    /// Runs a command with the passphrase.
    @discardableResult
    private func run(
        _ command: String, there: Bool = false, status: Int32 = 0
    ) throws -> (text: String, errors: String) {
        let outcome = try fixture.run(
            (there ? elsewhere : "") + "watchword \(command) --passphrase-file pass.txt",
            status: status)
        return (outcome.text, String(decoding: outcome.errors, as: UTF8.self))
    }

    @Test("list and show say where a bound entry opens")
    func listed() throws {
        let device = try fixture.run("cat /proc/sys/kernel/hostname").text.dropLast()
        let here = try run("list").text
        #expect(here.contains("GitHub:alice  totp, on this device\n"))
        #expect(here.contains("Mail:eve      totp\n"))
        let there = try run("list", there: true).text
        #expect(there.contains("GitHub:alice  totp, on \(device)\n"), "\(there)")
        for (isThere, word) in [(false, "true"), (true, "false")] {
            let facts = try run("--json list Bank", there: isThere).text
            #expect(
                facts.contains("\"binding\":\"file\"") && facts.contains("\"here\":\(word)")
                    && facts.contains("\"device\":\"\(device)\"")
                    // Reading the counter does not require the secret.
                    && facts.contains("\"counter\":7"), "\(facts)")
        }
        #expect(
            try run("show GitHub").text.contains(
                "binding     file: opens only on this device, with a key in a file\n"))
        #expect(
            try run("show GitHub", there: true).text.contains("binding     file: on \(device)\n"))
        #expect(try run("--json show Mail").text.contains("\"binding\":null"))
    }

    @Test(
        "on a different device, commands that need the secret are refused, and no failure is counted",
        arguments: [
            "code GitHub", "code Bank", "code Mail Bank", "verify 287082 GitHub", "watch GitHub",
            "show GitHub --uri --yes", "show Bank --uri --yes", "edit GitHub --digits 8",
            "edit Bank --counter 9", "edit GitHub --presence per-use", "edit GitHub --this-device",
            "edit Bank --no-this-device", "edit GitHub --secret-file key.txt",
        ])
    func refused(command: String) throws {
        let before = try fixture.vault()
        let errors = try run(command, there: true, status: 1).errors
        #expect(errors.contains("” opens only on “") && !errors.contains("”: “"), "\(errors)")
        let json = try run("--json \(command)", there: true, status: 1).text
        #expect(json.contains("\"binding\":\"file\"") && json.contains("\"device\":\""))
        #expect(try fixture.vault() == before && !fixture.countsFailures())
    }

    @Test("on a different device, a bound entry can only be renamed, described or removed")
    func described() throws {
        try run("edit GitHub --tag work --note 'on the laptop'", there: true)
        try run("rename GitHub GitLab:alice", there: true)
        try run("rename Bank Savings:bob", there: true)
        #expect(try run("code GitLab --at 59").text == "287082\n")
        #expect(try run("--json list GitLab").text.contains("\"tags\":[\"work\"]"))
        #expect(try run("--json code Savings").text.contains("\"counter\":7"))
        try run("remove GitLab --yes", there: true)
        try run("remove Savings --yes", there: true)
        #expect(try run("list").text == "Mail:eve  totp\n")
        // Undo restores the entry where it cannot be opened, and the entry opens on its device.
        try run("undo --yes", there: true)
        #expect(try run("list", there: true).text.contains("Savings:bob  hotp, per-use:passphrase"))
        #expect(try run("--json code Savings").text.contains("\"counter\":8"))
    }

    @Test("watch names the devices of entries whose codes are not available here")
    func watched() throws {
        let (text, errors) = try run("watch", there: true)
        #expect(text.contains("Mail:eve") && !text.contains("GitHub"))
        #expect(errors.contains("Skipped GitHub:alice, which opens only on "))
        let live = try fixture.terminal("\(elsewhere)watchword watch --passphrase-file pass.txt")
        try live.waitFor("GitHub:alice  on ")
        try live.type("q")
        #expect(try live.end() == 0)
    }

    @Test(
        "an export leaves bound entries out, and names them before it asks",
        arguments: [false, true])
    func exported(there: Bool) throws {
        try fixture.folder.write(Array("seven wooden ducks\n".utf8), to: "word.txt")
        for format in ["otpauth", "google", "sheet", "watchword"] {
            let password = format == "watchword" ? " --export-password-file word.txt" : ""
            let file = "\(there).\(format)"
            let (text, errors) = try run(
                "--json export --format \(format) -o \(file)\(password)", there: there, status: 1)
            #expect(errors.contains("GitHub:alice was skipped: it opens only on "), "\(errors)")
            #expect(errors.contains("Bank:bob was skipped: it opens only on "))
            #expect(text.contains("\"entries\":1"))
            #expect(text.contains(#"{"entry":"GitHub:alice","reason":"bound"}"#), "\(text)")
        }
        let lists = try run("export", there: there, status: 1).text
        #expect(lists.contains("Mail:eve") && lists.split(separator: "\n").count == 1)
        let asked = try fixture.terminal(
            (there ? elsewhere : "") + "watchword export --passphrase-file pass.txt")
        try asked.waitFor("Show the keys of all entries")
        #expect(asked.screen.contains("GitHub:alice was skipped: it opens only on "))
        try asked.type("n\n")
        #expect(try asked.end() == 1)
        // The exported entry is now present twice.
        try fixture.run(
            "watchword list --vault \(there).watchword --passphrase-file word.txt | grep '^Mail'")
        try run("export --only GitHub", there: there, status: 1)
    }

    @Test("an import leaves out the bound entries of a different vault's file")
    func importedVault() throws {
        let other = try VaultFixture([])
        try other.folder.write(fixture.folder.bytes(of: vault), to: "copy.vault")
        let outcome = try other.run(
            """
            watchword import copy.vault --export-password-file pass.txt --passphrase-file pass.txt
            """)
        #expect(
            outcome.text.contains(
                "skipped: GitHub:alice (the entry opens only on its device, and only in its own vault)"
            ),
            "\(outcome.text)")
        #expect(
            try other.run("watchword list --passphrase-file pass.txt").text == "Mail:eve  totp\n")
    }

    @Test("an import replaces a bound entry only on its device, and keeps the binding")
    func replaced() throws {
        let key = "MFRGGZDFMZTWQ2LKMFRGGZDFMZTWQ2LK"
        let uri = "otpauth://totp/GitHub:alice?secret=\(key)&issuer=GitHub\n"
        try fixture.folder.write(Array(uri.utf8), to: "uri.txt")
        let replace = "import uri.txt --on-duplicate replace"
        let refused = try run("--json \(replace)", there: true, status: 1).text
        #expect(refused.contains("\"reason\":\"bound-elsewhere\""), "\(refused)")
        #expect(try run("code GitHub --at 59").text == "287082\n")
        #expect(try run(replace).text.contains("replaced: GitHub:alice"))
        #expect(try run("list GitHub").text.contains("on this device"))
        #expect(try run("code GitHub --at 59").text != "287082\n")
        try run("code GitHub --at 59", there: true, status: 1)
        // A second import finds the same key on the entry's device, and only there.
        #expect(try run("--json import uri.txt").text.contains("same-codes"))
        let closed = try run("--json import uri.txt", there: true, status: 1).text
        #expect(closed.contains("\"reason\":\"bound-elsewhere\""), "\(closed)")
    }

    @Test("check opens bound entries on their device, and counts them elsewhere")
    func checked() throws {
        #expect(try run("check").text.contains("3 entries opened, 0 damaged"))
        let (text, errors) = try run("check", there: true)
        #expect(text.contains("1 entry opened, 2 bound to other devices, 0 damaged"), "\(text)")
        #expect(errors.contains("GitHub:alice opens only on ") && errors.contains("Bank:bob opens"))
        #expect(try run("--json check", there: true).text.contains("\"closed\":2"))
        // A key that exists here but cannot be used is a problem.
        try fixture.run("chmod 644 .local/state/watchword/device-keys/*/*")
        let unreachable = try run("check", status: 1)
        #expect(
            unreachable.text.contains(
                "1 entry opened, 2 whose device key cannot be used, 0 damaged"),
            "\(unreachable.text)")
        #expect(try run("--json check", status: 1).text.contains("\"closed\":2"))
        #expect(
            unreachable.errors.contains("“GitHub:alice”: other users can access the device key"),
            "\(unreachable.errors)")
        #expect(unreachable.errors.contains("“Bank:bob”: other users can access the device key"))
    }

    @Test(
        "binding warns of old programs and copies, purges the previous generation and can be ended")
    func bound() throws {
        let fixture = try VaultFixture(["A:a --secret-file key.txt", "B:b --secret-file key.txt"])
        func run(_ command: String, status: Int32 = 0) throws -> String {
            let outcome = try fixture.run(
                "\(command) --passphrase-file pass.txt", status: status)
            return outcome.text + String(decoding: outcome.errors, as: UTF8.self)
        }
        let format = "older versions of Watchword cannot open this vault from now on (format 4)"
        let copies =
            "the vault's previous generation was erased, but older copies of the vault, backups "
            + "and git's history still contain"
        let previous = "ls .local/share/watchword/.watchword/by-name/vault/previous"
        let first = try run("watchword edit A --this-device=file")
        #expect(first.contains(format) && first.contains(copies), "\(first)")
        #expect(try fixture.vault().hasPrefix("watchword-vault 4\n"))
        try fixture.run("! \(previous)")
        #expect(try run("watchword undo --yes", status: 1).contains("nothing to undo"))
        let second = try run("watchword edit B --this-device=file")
        #expect(!second.contains(format) && second.contains(copies), "\(second)")
        let third = try run("watchword add C --secret-file key.txt --this-device=file")
        #expect(!third.contains(format) && !third.contains(copies), "\(third)")
        // The same happens with an entry that is already bound.
        try fixture.run(previous)
        #expect(try run("watchword edit A --this-device=file").contains(copies))
        try fixture.run("! \(previous)")
        // All entries share one key.
        #expect(
            try fixture.run("ls .local/state/watchword/device-keys/*").text
                .split(separator: "\n").count == 1)
        for name in ["A", "B", "C"] { _ = try run("watchword edit \(name) --no-this-device") }
        #expect(try !fixture.vault().hasPrefix("watchword-vault 4\n"))
        #expect(
            try run("XDG_STATE_HOME=$PWD/other watchword code A --at 59") == "287082\n")
        for options in ["--this-device=card", "--this-device --no-this-device"] {
            _ = try run("watchword edit A \(options)", status: 2)
        }
        _ = try run("watchword edit A --fingers current", status: 2)
        _ = try run("watchword edit A --presence per-use:pam --fingers current", status: 2)
    }

    @Test("merge and undo load the keys of entries that are bound only in the other file")
    func boundThere() throws {
        let fixture = try VaultFixture(["A:a --secret-file key.txt"])
        let passphrase = "--passphrase-file pass.txt"
        try fixture.run("cp \(vault) copy; cp \(vault) far")
        try fixture.run("watchword edit A --this-device=file \(passphrase)")
        try fixture.run("watchword --vault copy edit A --digits 8 \(passphrase)")
        func warning(_ command: String) throws -> String {
            let outcome = try fixture.run("\(command) \(passphrase)")
            return String(decoding: outcome.errors, as: UTF8.self)
        }
        let merged = try warning("watchword --vault copy merge \(vault)")
        #expect(merged.contains("(format 4)"))
        // The previous generation, which undo needs, still contains the secret without its binding.
        let unbound = "still contains these secrets without their binding: A:a; to erase it now, "
        let previous = "test -e .watchword/by-name/copy/previous"
        #expect(merged.contains(unbound), "\(merged)")
        try fixture.run(previous)
        let found = try #require(merged.split(separator: "erase it now, run: ").last)
        let advice = found.prefix { $0 != "\n" }
        #expect(advice == "watchword --vault 'copy' edit 'A:a' --this-device")
        #expect(try warning(String(advice)).contains("previous generation was erased"))
        try fixture.run("! \(previous)")
        let far = try warning("\(elsewhere)watchword --vault far merge \(vault)")
        #expect(far.contains(unbound + "run: watchword --vault 'far' rekey\n"), "\(far)")
        #expect(try !warning("watchword --vault copy merge far").contains(unbound))
        let list = "list \(passphrase)"
        #expect(try fixture.run("watchword --vault copy \(list)").text.contains("on this device"))
        try fixture.run("watchword edit A --no-this-device \(passphrase)")
        #expect(try fixture.run("watchword \(list)").text == "A:a  totp\n")
        #expect(try warning("watchword undo --yes").contains(unbound))
        #expect(try fixture.run("watchword \(list)").text == "A:a  totp, on this device\n")
        #expect(try fixture.run("watchword code A --at 59 \(passphrase)").text == "287082\n")
    }

    @Test("undo on a different device names the entries whose binding it does not change")
    func undone() throws {
        try fixture.run("cp \(vault) copy; cp \(vault) far")
        try run("edit Mail --this-device=file")
        try run("--vault copy merge \(vault)", there: true)
        let refused = try run("--vault copy undo --yes", there: true, status: 1).errors
        let reason = "Mail:eve: nothing to undo: what is or was bound to another device"
        #expect(refused.contains(reason), "\(refused)")
        try run("edit GitHub --note new")
        try run("--vault far merge \(vault)", there: true)
        let plan = try run("--vault far undo --dry-run", there: true).text
        #expect(
            plan.hasPrefix("kept: Mail:eve (its secret, access control and binding are not undone")
                && plan.contains("\nchanged back: GitHub:alice"), "\(plan)")
        let json = try run("--json --vault far undo --yes", there: true).text
        let kept =
            #","entry":"Mail:eve","former_name":null,"older":null,"parts":[],"result":"kept"}"#
        #expect(json.contains(kept), "\(json)")
    }

    @Test("changes that only the device can decide are merged on that device")
    func merged() throws {
        // A copy in which the entry is not bound, and was edited.
        try run("edit GitHub --no-this-device")
        try fixture.run("cp \(vault) copy")
        try run("edit GitHub --this-device=file")
        try run("--vault copy edit GitHub --digits 8", there: true)
        try fixture.run("cp \(vault) third")
        let left = try run("--vault third merge copy", there: true, status: 1)
        #expect(
            left.errors.contains(
                "GitHub:alice of copy was not merged: only “"),
            "\(left.errors)")
        let json = try run("--vault third --json merge copy", there: true, status: 1).text
        #expect(json.contains(#""left_to_device":[{"device":""#), "\(json)")
        #expect(json.contains(#""entry":"GitHub:alice"}]"#), "\(json)")
        try run("merge copy")
        #expect(try run("list GitHub").text.contains("on this device"))
        // The other device accepts the result of this merge.
        try run("--vault third merge \(vault)", there: true)
        try run("--vault third code GitHub:alice", there: true, status: 1)
        let code = "code GitHub:alice --at 59"
        #expect(try run("--vault third \(code)").text == run(code).text)
    }
}
