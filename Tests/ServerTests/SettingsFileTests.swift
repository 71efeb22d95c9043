import Foundation
import TestSupport
import Testing
import WatchwordSystem

@testable import ServerCommands

struct SettingsFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String) throws -> SettingsFile {
        try SettingsFile(reading: folder.write(Array(text.utf8), to: "server.conf"))
    }

    private func settings(_ text: String) throws -> [String] {
        try file(text).settings.map { "\($0.name)|\($0.value)" }
    }

    @Test("the lines that systemd reads in the same way are accepted")
    func accepted() throws {
        let text = """
            # The address, as in C:\\x.
            ;WATCHWORD_LISTEN=1

            WATCHWORD_LISTEN=127.0.0.1:8420
              WATCHWORD_RP_NAME= Mill & Söhne # 1 \t
            WATCHWORD_STORE="postgresql://w@db/w?sslmode=verify-full"
            PGPASSFILE=
            _x9=a=b
            WATCHWORD_LISTEN=[::1]:1
            """
        #expect(
            try settings(text) == [
                "WATCHWORD_RP_NAME|Mill & Söhne # 1",
                "WATCHWORD_STORE|postgresql://w@db/w?sslmode=verify-full", "PGPASSFILE|",
                "_x9|a=b", "WATCHWORD_LISTEN|[::1]:1",
            ])
        #expect(try settings("").isEmpty)
    }

    @Test(
        "a line that systemd could read differently is refused, with its number",
        arguments: [
            "NAME", "NAME = value", "1NAME=value", "=value", "NÄME=value", "export NAME=value",
            "NAME=a\\", "NAME='a'", "NAME=\"a", "NAME=a\"b", "NAME=\"a\"b\"", "NAME=\"a\\\"b\"",
            "NAME=\"a\" \"b\"", "NAME=a\u{7}", "NAME=a\r", "# A=1 \\", "NAME=a\"\u{301}",
        ])
    func refused(_ line: String) throws {
        let path = folder.file("server.conf")
        let failure = #expect(throws: ServerFailure.self) { try file("A=1\n\(line)\nB=2\n") }
        guard case .settingsFile(path, .malformed(line: 2))? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        // The nearest accepted line.
        #expect(try settings("A=1\nNAME=a\nB=2\n") == ["A|1", "NAME|a", "B|2"])
    }

    @Test("a file that is not UTF-8 is refused, and one that does not exist has no settings")
    func unreadable() throws {
        let path = try folder.write([0x41, 0x3D, 0xFF], to: "server.conf")
        let failure = #expect(throws: ServerFailure.self) { try SettingsFile(reading: path) }
        guard case .settingsFile(path, .notUTF8)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(try SettingsFile.existingOrNew(at: folder.file("none")).settings.isEmpty)
        let missing = #expect(throws: ServerFailure.self) {
            try SettingsFile(reading: folder.file("none"))
        }
        guard case .input(_, .missing)? = missing else {
            Issue.record("\(String(describing: missing))")
            return
        }
    }

    @Test("a setting is changed in its line, below its example or at the end; the rest is kept")
    func changes() throws {
        var file = try file("# Settings.\n#A=example\n\nB=1\n#C=1\n; end\nB=2\n")
        file.set("B", to: "3")
        file.set("A", to: "x y")
        file.set("D", to: "/srv/chain.pem")
        file.set("A", to: "z")
        try file.write()
        #expect(
            try String(decoding: folder.bytes(of: "server.conf"), as: UTF8.self)
                == "# Settings.\n#A=example\nA=z\n\nB=1\n#C=1\n; end\nB=3\nD=/srv/chain.pem\n")
        #expect(try mode(of: folder.file("server.conf")) == 0o600)
        let read = try SettingsFile(reading: folder.file("server.conf")).settings
        #expect(read.map { "\($0.name)|\($0.value)" } == ["A|z", "B|3", "D|/srv/chain.pem"])
    }

    @Test("a value that would change when it is read again cannot be stored")
    func values() {
        for value in ["a", "a b", "", "https://a.example/?b=c#d", "ä", "$HOME"] {
            #expect(SettingsFile.canHold(value), "\(value)")
        }
        for value in ["a\nB=1", "\"a\"", "it's", "a\\b", " a", "a ", "a\t", "a\u{0}"] {
            #expect(!SettingsFile.canHold(value), "\(value)")
        }
    }
}
