import Foundation
import TestSupport
import Testing

/// The parts of a bound entry that a copy of the vault, or of the whole home folder, can open if
/// the entry's key is in a file.
struct BoundCopyTests {
    private let fixture: VaultFixture
    private let code = "watchword code Site --at 59 --passphrase-file pass.txt"

    /// A vault with an entry that is bound to a key in a file.
    init() throws {
        fixture = try VaultFixture(
            ["Site:me --secret-file key.txt --this-device=file"], recoveryKey: true)
        #expect(try fixture.run(code).text == "287082\n")
    }

    /// Expects that a command does not open the entry, because the entry is bound to a different
    /// device.
    private func expectClosed(_ command: String) throws {
        let outcome = try fixture.run(command, status: 1)
        #expect(outcome.text == "")
        let errors = String(decoding: outcome.errors, as: UTF8.self)
        #expect(errors.contains("“Site:me” opens only on “"), "\(errors)")
    }

    @Test("a copied vault and its passphrase do not open a bound entry")
    func vault() throws {
        try fixture.run("mkdir there; cp .local/share/watchword/vault there/vault")
        let there = "export HOME=$PWD/there; \(code) --vault there/vault"
        try expectClosed(there)
        // All properties except the secret are visible.
        let list = try fixture.run(
            "HOME=$PWD/there watchword --json list --vault there/vault --passphrase-file pass.txt")
        #expect(list.text.contains(#""here":false"#) && list.text.contains(#""account":"me""#))
        try expectClosed(
            """
            export HOME=$PWD/there; watchword show Site --uri --yes --vault there/vault \
                --passphrase-file pass.txt
            """)
        // A copy of the previous generation does not open the entry either.
        try expectClosed(
            """
            watchword edit -q Site --tag a --passphrase-file pass.txt
            cp .local/share/watchword/.watchword/by-name/vault/previous there/vault
            \(there)
            """)
    }

    @Test("a copied vault and its recovery key do not open a bound entry")
    func recoveryKey() throws {
        try fixture.run("mkdir there; cp .local/share/watchword/vault there/vault")
        try expectClosed(
            """
            export HOME=$PWD/there; watchword code Site --at 59 --vault there/vault \
                --recovery-key-file recovery.txt
            """)
    }

    @Test("a copied home folder opens a bound entry whose key is in a file")
    func copiedHome() throws {
        try fixture.run("mkdir there; cp -a .local there")
        #expect(try fixture.run("export HOME=$PWD/there; \(code)").text == "287082\n")
        // Both copies have the device's key, so both can change the entry.
        try fixture.run(
            """
            export HOME=$PWD/there; watchword edit -q Site --digits 8 --passphrase-file pass.txt
            """)
        #expect(try fixture.run("export HOME=$PWD/there; \(code)").text == "94287082\n")
    }

    @Test(
        "another user who has copied the vault can neither read nor use its device key",
        .enabled(if: geteuid() == 0, "only root can become another user"))
    func secondUser() throws {
        try fixture.expectKeyClosedToOthers()
        #expect(try fixture.run(code).text == "287082\n")
    }

    @Test("only its owner can read a device key, and one that others can read is not used")
    func permissions() throws {
        let folder = ".local/state/watchword/device-keys"
        let modes = try fixture.run("find \(folder) -printf '%m %y\\n' | sort -u")
        #expect(modes.text == "600 f\n700 d\n")
        let other = "export XDG_STATE_HOME=$PWD/other; \(code)"
        try expectClosed(other)
        // The advice names the folder, wherever the folder is.
        try fixture.run("mv .local/state moved")
        let moved = "XDG_STATE_HOME=$PWD/moved \(code)"
        for (folder, code) in [("moved", moved), (".local/state", code)] {
            try fixture.run("chmod 644 \(folder)/watchword/device-keys/*/*")
            let refused = try fixture.run(code, status: 6)
            let errors = String(decoding: refused.errors, as: UTF8.self)
            #expect(errors.contains("“Site:me”: other users can access the device key"))
            try fixture.run(String(try #require(errors.split(separator: "run: ").last)))
            #expect(try fixture.run(code).text == "287082\n")
            try fixture.run("test -e .local/state || mv moved .local/state")
        }
    }

    @Test("an entry whose key is damaged or missing does not open, and no new key is made")
    func lostKey() throws {
        let folder = ".local/state/watchword/device-keys"
        try fixture.run("cp -a \(folder) kept; for key in \(folder)/*/*; do printf x >>$key; done")
        let damaged = try fixture.run(code, status: 6)
        let home = try fixture.run("printf %s \"$HOME\"").text
        #expect(
            String(decoding: damaged.errors, as: UTF8.self).contains(
                "“Site:me”: its device key is damaged; restore '\(home)/\(folder)', or get"))
        try fixture.run("rm -r \(folder)")
        try expectClosed(code)
        try fixture.run("watchword list --passphrase-file pass.txt")
        #expect(try fixture.run("ls .local/state/watchword").text == "")
        // A different entry gets a different key, which does not open this entry.
        try fixture.run(
            """
            watchword add -q Other:me --secret-file key.txt --this-device=file \
                --passphrase-file pass.txt
            """)
        try expectClosed(code)
        try fixture.run("cp -a kept/* \(folder)/")
        #expect(try fixture.run(code).text == "287082\n")
    }
}

extension VaultFixture {
    /// Expects that another user with a copy of the vault can neither read nor use the vault's
    /// device key, although the folders above are open.
    func expectKeyClosedToOthers() throws {
        let other = "setpriv --reuid 12345 --regid 12345 --clear-groups"
        let keys = "$PWD/.local/state/watchword/device-keys"
        try run(
            """
            chmod 711 . .local .local/state .local/state/watchword
            mkdir there; cp .local/share/watchword/vault pass.txt there; chown -R 12345 there
            """)
        let refused = try run(
            """
            export HOME=$PWD/there XDG_STATE_HOME=$PWD/.local/state
            \(other) watchword code Site --vault there/vault --passphrase-file there/pass.txt
            """, status: 6)
        let errors = String(decoding: refused.errors, as: UTF8.self)
        #expect(errors.contains("“Site:me”: the device key cannot be read or"), "\(errors)")
        for attempt in ["ls \(keys)", "cat \(keys)/*/*"] {
            let outcome = try run("\(other) \(attempt) || exit 1", status: 1)
            let errors = String(decoding: outcome.errors, as: UTF8.self)
            #expect(outcome.text == "" && errors.contains("Permission denied"), "\(errors)")
            try run("chmod 711 \(keys) \(keys)/*")
        }
    }
}
