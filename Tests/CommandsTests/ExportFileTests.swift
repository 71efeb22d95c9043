import Foundation
import TestSupport
import Testing

/// An export is written completely or not at all, and can be imported again.
struct ExportFileTests {
    private static let entries = [
        "GitHub:ann@example.com --secret-file key.txt", "Größe:日本 --secret-file key.txt --digits 8",
        "Bank:bob --secret-file key.txt --type hotp --counter 41",
        "Steam:carol --secret-file key.txt --type steam",
        "VPN:dave --secret-file key.txt --algorithm SHA256 --period 60",
    ]
    /// The formats, with the options that they need and the names of the files.
    private static let formats = [
        ("otpauth", ""), ("aegis", "--plain"), ("2fas", "--plain"), ("sheet", ""),
        ("aegis", "--export-password-file word.txt"), ("2fas", "--export-password-file word.txt"),
        ("watchword", "--export-password-file word.txt"),
    ]

    private func fixture() throws -> VaultFixture {
        let fixture = try VaultFixture(Self.entries)
        try fixture.folder.write(Array("seven wooden ducks\n".utf8), to: "word.txt")
        return fixture
    }

    @Test(
        "an export that is imported into an empty vault gives the same entries", arguments: formats)
    func roundTrip(format: String, options: String) throws {
        let fixture = try fixture()
        let all = try fixture.run("watchword export --passphrase-file pass.txt").text
        try fixture.run(
            "watchword export --format \(format) \(options) -o out.file --passphrase-file pass.txt")
        let attributes = try FileManager.default.attributesOfItem(
            atPath: fixture.folder.file("out.file"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        if options.contains("word.txt") {
            let file = try fixture.folder.bytes(of: "out.file")
            #expect(!String(decoding: file, as: UTF8.self).contains(VaultFixture.key))
        }
        try restore("out.file", in: fixture, expecting: all)
    }

    @Test(
        "an export is on disk before it replaces a file, and its name is on disk at the end",
        .enabled(if: ForeignProgram.canTrace, "strace is missing or cannot trace here"),
        arguments: ["", "--force"])
    func powerFailure(options: String) throws {
        let fixture = try fixture()
        if options == "--force" { try fixture.folder.write([1], to: "out.file") }
        let strace = "strace " + PowerFailure.options.joined(separator: " ")
        try fixture.run(
            "\(strace) calls watchword export \(options) -o out.file --passphrase-file pass.txt")
        let calls = try fixture.folder.bytes(of: "calls")
        #expect(String(decoding: calls, as: UTF8.self).contains("fsync("))
        #expect(PowerFailure.omissions(in: calls, below: fixture.folder.path) == [])
    }

    @Test(
        "a Google Authenticator image has at most ten entries; all images are imported together")
    func pictures() throws {
        let fixture = try VaultFixture([])
        let list = "ABCDEFGHIJKLMNOPQRSTUVW".map {
            "otpauth://totp/Site:\($0)?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQO\($0)A"
        }
        try fixture.folder.write(
            Array((list.joined(separator: "\n") + "\n").utf8), to: "all.list")
        try fixture.run("watchword import all.list -q --passphrase-file pass.txt")
        let all = try fixture.run("watchword export --passphrase-file pass.txt").text
        let output = try fixture.run(
            "watchword --json export --format google -o qr.png --passphrase-file pass.txt"
        ).text
        #expect(output.contains("qr-3-of-3.png"))
        try fixture.run(
            "watchword init --vault new -q --scrypt-log-n 10 --no-recovery-key --passphrase-file pass.txt"
        )
        try fixture.run("watchword --vault new import -q qr-*.png --passphrase-file pass.txt")
        #expect(
            try fixture.run("watchword --vault new export --passphrase-file pass.txt").text == all)
    }

    private func restore(
        _ file: String, in fixture: VaultFixture, expecting all: String?
    ) throws {
        try fixture.run(
            "watchword init --vault new -q --scrypt-log-n 10 --no-recovery-key --passphrase-file pass.txt"
        )
        try fixture.run(
            "watchword --vault new import \(file) --export-password-file word.txt --passphrase-file pass.txt"
        )
        guard let all else { return }
        let restored = try fixture.run("watchword --vault new export --passphrase-file pass.txt")
        #expect(restored.text == all)
    }

    @Test("a backup restores everything about each entry, and leaves nothing out")
    func backup() throws {
        let fixture = try VaultFixture(
            Self.entries + [
                "'router password' --type secret --secret-file key.txt --note 'in the hall' --tag home",
                "Shop:eve --secret-file key.txt --digits 7 --on-failure wipe:9 --tag a --tag 'b & ü'",
            ])
        try fixture.folder.write(Array("seven wooden ducks\n".utf8), to: "word.txt")
        let export = "watchword export --format watchword --export-password-file word.txt"
        try fixture.run("\(export) -o all.vault --passphrase-file pass.txt")
        try restore("all.vault", in: fixture, expecting: nil)
        // All properties except the IDs are equal.
        let facts = "--json list --passphrase-file pass.txt | sed 's/\"id\":\"[^\"]*\"//'"
        let before = try fixture.run("watchword \(facts)").text
        #expect(before.contains("in the hall") && before.contains("wipe:9"))
        #expect(try fixture.run("watchword --vault new \(facts)").text == before)
        let reveal = "show router --reveal --yes --passphrase-file pass.txt"
        #expect(
            try fixture.run("watchword --vault new \(reveal)").text
                == fixture.run("watchword \(reveal)").text)
        // A second import changes nothing.
        let again = try fixture.run(
            "watchword --vault new import all.vault --export-password-file word.txt --passphrase-file pass.txt"
        )
        #expect(again.text.contains("7 already present"))
        // --only selects entries by tag.
        try fixture.run("\(export) --only home -o home.vault --passphrase-file pass.txt")
        #expect(
            try fixture.run("watchword --vault home.vault list --passphrase-file word.txt").text
                .hasPrefix("router password"))
    }

    @Test(
        "a backup with a different password, a damaged backup and a copy of the vault are refused")
    func refusedBackups() throws {
        let fixture = try fixture()
        try fixture.run(
            "watchword export --format watchword --export-password-file word.txt -o all.vault --passphrase-file pass.txt"
        )
        let importing =
            "watchword import --export-password-file word.txt --passphrase-file pass.txt"
        try fixture.run(
            "head -c 900 all.vault >cut.vault; cp .local/share/watchword/vault same.vault")
        let cut = try fixture.run("\(importing) cut.vault", status: 1)
        #expect(cut.text.contains("cut.vault: not read: a Watchword vault, but "))
        let same = try fixture.run("\(importing) same.vault", status: 1)
        #expect(same.text.contains("a copy of this vault"))
        try fixture.folder.write(Array("wrong\n".utf8), to: "word.txt")
        let wrong = try fixture.run("\(importing) all.vault", status: 1)
        #expect(wrong.text.contains("a Watchword vault, encrypted; wrong password"))
    }

    @Test(
        "an independent reader opens an Aegis export",
        .enabled(
            if: ForeignProgram.canReadIndependently,
            "python3 or its package cryptography is missing"),
        arguments: ["--plain", "--export-password-file word.txt"])
    func aegis(options: String) throws {
        let fixture = try fixture()
        try fixture.run(
            "watchword export --format aegis \(options) -o aegis.json --passphrase-file pass.txt")
        let file = fixture.folder.file("aegis.json")
        let read = try AegisReader.run(file, password: fixture.folder.file("word.txt"))
        #expect(read.status == 0, "\(String(decoding: read.errors, as: UTF8.self))")
        let lines = read.text.split(separator: "\n").map { line in
            String(line.filter { !" \"{}".contains($0) })
        }
        let expected: [String] = [
            Self.line("totp", "GitHub", "ann@example.com", "SHA1,digits:6,period:30"),
            Self.line("totp", "Größe", "日本", "SHA1,digits:8,period:30"),
            Self.line("hotp", "Bank", "bob", "SHA1,digits:6,counter:41"),
            Self.line("steam", "Steam", "carol", "SHA1,digits:5,period:30"),
            Self.line("totp", "VPN", "dave", "SHA256,digits:6,period:60"),
        ]
        #expect(lines == expected)
        try fixture.folder.write(Array("seven wooden duck\n".utf8), to: "wrong.txt")
        let wrong = try AegisReader.run(file, password: fixture.folder.file("wrong.txt"))
        #expect(wrong.status == (options == "--plain" ? 0 : 1))
    }

    /// The output of the independent reader for an entry, without quotation marks.
    private static func line(
        _ type: String, _ issuer: String, _ account: String, _ parameters: String
    ) -> String {
        "type:\(type),issuer:\(issuer),account:\(account),note:,favourite:false,tags:[],"
            + "secret:\(VaultFixture.key),algo:\(parameters)"
    }

    @Test("an existing file is refused before any prompt, and replaced only with --force")
    func existing() throws {
        let fixture = try fixture()
        try fixture.folder.write(Array("mine".utf8), to: "out.file")
        let refused = try fixture.run("watchword export -o out.file", status: 3)
        #expect(String(decoding: refused.errors, as: UTF8.self).contains("already exists"))
        #expect(try fixture.folder.bytes(of: "out.file") == Array("mine".utf8))
        try fixture.run("watchword export -o out.file --force --passphrase-file pass.txt")
        #expect(try fixture.folder.bytes(of: "out.file").starts(with: Array("otpauth://".utf8)))
        let vault = ".local/share/watchword/vault"
        try fixture.run(
            "watchword export -o \(vault) --force --passphrase-file pass.txt", status: 3)
        try fixture.run("watchword list --passphrase-file pass.txt")
    }

    @Test(
        "a full disk leaves no file", .enabled(if: SmallDisk.canMount, "mounting needs root"),
        arguments: ["otpauth", "sheet", "google"])
    func fullDisk(format: String) throws {
        let fixture = try fixture()
        let disk = try SmallDisk(bytes: 1 << 16)
        try disk.fillUp()
        let outcome = try fixture.run(
            "watchword export --format \(format) -o \(disk.file("out.png")) --passphrase-file pass.txt",
            status: 6)
        #expect(String(decoding: outcome.errors, as: UTF8.self).contains("out.png: "))
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.folder.path) == ["filler"])
    }

    @Test("options that do not belong to the format are refused")
    func usage() throws {
        let fixture = try fixture()
        for options in [
            "--plain", "--format sheet --plain", "--format google --export-password-file word.txt",
            "--format aegis --plain --export-password-file word.txt", "--force",
            "--json --format aegis --plain", "--format nonsense", "-o",
            "--format watchword --plain",
        ] {
            try fixture.run("watchword export \(options) --passphrase-file pass.txt", status: 2)
        }
        try fixture.run("watchword export --only nobody --passphrase-file pass.txt", status: 1)
    }

    @Test("the password of an encrypted export is asked for twice")
    func password() throws {
        let fixture = try fixture()
        let export = "watchword export --format aegis -o out.json --passphrase-file pass.txt"
        let differing = try fixture.terminal(export)
        try differing.answer([
            ("New password for the Aegis export: ", "seven wooden ducks"),
            ("New password for the Aegis export again: ", "seven wooden duck"),
        ])
        #expect(try differing.end() == 4)
        #expect(!FileManager.default.fileExists(atPath: fixture.folder.file("out.json")))
        let same = try fixture.terminal(export)
        try same.answer([
            ("New password for the Aegis export: ", "seven wooden ducks"),
            ("New password for the Aegis export again: ", "seven wooden ducks"),
        ])
        #expect(try same.end() == 0)
        try fixture.folder.write(Array("wrong\n".utf8), to: "wrong.txt")
        let wrong = try fixture.run(
            "watchword import out.json --export-password-file wrong.txt --passphrase-file pass.txt",
            status: 1)
        #expect(wrong.text.contains("wrong password"))
    }

    @Test("a file is written to a terminal only with --output -")
    func terminal() throws {
        let fixture = try fixture()
        let refused = try fixture.terminal("watchword export --format sheet")
        try refused.waitFor("this format is for a file")
        #expect(try refused.end() == 2)
        let asked = try fixture.terminal(
            "watchword export --yes --format sheet -o - --passphrase-file pass.txt")
        try asked.waitFor("</html>")
        #expect(try asked.end() == 0)
        let symbols = try fixture.terminal(
            "watchword export --yes --format google --only GitHub --passphrase-file pass.txt")
        try symbols.waitFor("1 of 1")
        try symbols.waitFor("▀")
        #expect(try symbols.end() == 0)
    }
}

/// Runs `Scripts/read-aegis.py`, which was written from Aegis' public description alone.
private enum AegisReader {
    static func run(_ file: String, password: String) throws -> ForeignProgram.Outcome {
        let script = PackageFolder.root.appending(path: "Scripts/read-aegis.py").path
        return try #require(ForeignProgram("python3")).run(
            [script, file, "--password-file", password])
    }
}
