import Foundation
import TestSupport
import Testing

/// Interrupts the program while a secret is in a file that is not complete or not meant to stay.
struct InterruptedFileTests {
    private static let signals = ["INT", "TERM", "HUP"]

    /// Whether the text of an export is complete.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.hasPrefix("otpauth://") && text.hasSuffix("\n")
    }

    @Test(
        "an interrupted export leaves the old file or the new one, and no other",
        .enabled(if: ForeignProgram.canTrace, "strace is missing or cannot trace here"),
        arguments: signals)
    func export(signal: String) throws {
        let fixture = try VaultFixture()
        let export = "watchword export -o out/list --force --passphrase-file pass.txt"
        try fixture.run("mkdir out; echo old >out/list; strace -o calls \(export)")
        let lines = String(decoding: try fixture.folder.bytes(of: "calls"), as: UTF8.self)
            .split(separator: "\n")
        let calls = lines.map { $0.prefix { $0 != "(" } }
        let first = try #require(lines.firstIndex { $0.contains("\".watchword-") })
        let last = try #require(lines.lastIndex { $0.contains("\".watchword-") })
        var ended = 0
        for call in first...last {
            let count = calls[...call].count { $0 == calls[call] }
            let fault = "inject=\(calls[call]):signal=\(signal):when=\(count)"
            let outcome = try Transcript.run(
                "echo old >out/list; env --default-signal strace -o /dev/null -e \(fault) \(export)",
                in: fixture.folder)
            ended += outcome.status == 0 ? 0 : 1
            #expect(try names(in: fixture.folder.file("out")) == ["list"], "\(lines[call])")
            let left = try fixture.folder.bytes(of: "out/list")
            #expect(left == Array("old\n".utf8) || Self.isWhole(left), "\(lines[call])")
        }
        #expect(ended >= 4)
    }

    @Test(
        "an interrupted export of several images leaves all of them or none",
        .enabled(if: ForeignProgram.canTrace, "strace is missing or cannot trace here"))
    func pictures() throws {
        let fixture = try VaultFixture([])
        let list = "ABCDEFGHIJKLMN".map {
            "otpauth://totp/Site:\($0)?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQO\($0)A\n"
        }
        try fixture.folder.write(Array(list.joined().utf8), to: "all.list")
        try fixture.run("watchword import all.list -q --passphrase-file pass.txt; mkdir out")
        let export = "watchword export --format google -o out/qr.png --passphrase-file pass.txt"
        try fixture.run("strace -o calls \(export); rm out/*")
        let calls = String(decoding: try fixture.folder.bytes(of: "calls"), as: UTF8.self)
            .split(separator: "\n")
        let made = try #require(calls.firstIndex { $0.contains("\"qr-1-of-2.png\", O_WRONLY") })
        let before = calls[...made].count { $0.hasPrefix("fsync(") }
        _ = try Transcript.run(
            "env --default-signal strace -o /dev/null "
                + "-e inject=fsync:signal=TERM:when=\(before + 1) \(export)", in: fixture.folder)
        #expect(try names(in: fixture.folder.file("out")) == ["qr-1-of-2.png", "qr-2-of-2.png"])
    }

    @Test("an interrupted screenshot is not left behind", arguments: signals)
    func screenshot(signal: String) throws {
        let fixture = try VaultFixture([])
        let tool = "#!/bin/sh\necho picture >\"$2\"; kill -\(signal) $PPID; exec sleep 20\n"
        try fixture.run("mkdir bin run")
        try fixture.folder.write(Array(tool.utf8), to: "bin/gnome-screenshot")
        try fixture.run("chmod +x bin/gnome-screenshot")
        let outcome = try Transcript.run(
            "DISPLAY=:0 XDG_RUNTIME_DIR=$PWD/run PATH=$PWD/bin:$PATH env --default-signal "
                + "watchword import --screen --passphrase-file pass.txt", in: fixture.folder)
        #expect(outcome.status != 0)
        #expect(try names(in: fixture.folder.file("run")) == [])
    }
}
