import TestSupport
import Testing
import WatchwordCoding
import WatchwordCryptography

@testable import Commands

struct OutputTests {
    private func text(_ secret: SecretBytes) -> String {
        secret.withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    @Test("a JSON object keeps the order of its members and can have every kind of value")
    func values() {
        let value = JSONValue.object([
            ("b", .text("x")), ("a", .number(-5)), ("c", .counter(.max)), ("d", .flag(true)),
            ("e", .null), ("f", .list([.flag(false), .list([]), .object([])])),
            ("g", .secret(SecretBytes(copying: [0x73].span))),
        ])
        #expect(
            text(value.rendered())
                == #"{"b":"x","a":-5,"c":18446744073709551615,"d":true,"e":null,"#
                + #""f":[false,[],{}],"g":"s"}"#)
    }

    @Test(
        "the shell reads a quoted word as one word",
        arguments: ["", "it's", "a'\u{301}; exit 9; '\u{301}", "'", "$(id) `id` \"x\" \\"])
    func quoted(word: String) throws {
        let outcome = try ForeignProgram(path: "/bin/sh").run(
            ["-c", "printf '<%s>' " + ShellWord.quoted(word)])
        #expect(outcome.output == Array("<\(word)>".utf8))
    }

    @Test("a word with invisible characters is shown in full, and bash reads it as one word")
    func quotedInvisible() throws {
        let word = "it's\n\\ \u{1B}[31m7 \u{202E}é$(id)\n"
        let quoted = ShellWord.quoted(word)
        #expect(VisibleText.of(quoted) == quoted && quoted.contains(" \\033[31m7 "))
        let outcome = try ForeignProgram(path: "/bin/bash").run(["-c", "printf '<%s>' " + quoted])
        #expect(outcome.output == Array("<\(word)>".utf8))
    }

    @Test("a path that begins like an option is quoted so that it no longer does")
    func option() { #expect(ShellWord.quoted("-v x") == "'./-v x'") }

    @Test("JSON escapes characters that are special in JSON or on a terminal")
    func escapes() {
        let hostile = "\"\\\n\t\u{0}\u{1B}[31m\u{7F}\u{9B}\u{202E}\u{E0001}é😀"
        #expect(
            text(JSONValue.text(hostile).rendered())
                == #""\"\\\n\t\u0000\u001b[31m\u007f\u009b\u202e\udb40\udc01é😀""#)
    }

    @Test("bytes that are not UTF-8 are printed as Base64, in a member called base64")
    func strayBytes() {
        let latin = SecretBytes(copying: [0x4D, 0xFC].span)
        let (name, value) = JSONValue.text(named: "text", latin)
        #expect(name == "base64")
        #expect(text(value.rendered()) == #""Tfw=""#)
        #expect(JSONValue.text(named: "text", SecretBytes(copying: [0x4D].span)).0 == "text")
    }

    @Test(
        "control and invisible characters in a label are escaped",
        arguments: [
            ("plain é 😀", "plain é 😀"), ("\u{1B}[2J", #"\u{1B}[2J"#), ("a\nb", #"a\u{A}b"#),
            ("\u{202E}evil", #"\u{202E}evil"#), ("x\u{2066}y", #"x\u{2066}y"#),
            ("\u{9B}31m", #"\u{9B}31m"#), ("zero\u{200B}width", #"zero\u{200B}width"#),
            ("\u{2028}", #"\u{2028}"#), ("joined 👩‍💻", "joined 👩‍💻"),
        ])
    func visible(_ label: String, _ shown: String) {
        #expect(VisibleText.of(label) == shown)
        #expect(text(VisibleText.of(SecretBytes(copying: Array(label.utf8).span))) == shown)
    }

    @Test(
        "text in a table is truncated to the column width",
        arguments: [
            ("", ""), ("abcdefgh", "abcdefgh"), ("abcdefghi", "abcdefg…"),
            ("日本語でし", "日本語…"), ("日本語a", "日本語a"), ("a日本語b", "a日本語b"),
            (
                String(repeating: "e\u{301}", count: 9),
                String(repeating: "e\u{301}", count: 7) + "…"
            ),
            ("ab" + String(repeating: "\u{301}", count: 3000), "a…"),
            ("👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻", "👩‍💻👩‍💻👩‍💻…"),
        ])
    func fitting(_ text: String, _ shown: String) {
        #expect(text.fitting(columns: 8) == shown)
        #expect(shown.columns <= 8)
    }

    @Test("a byte that is not UTF-8 is escaped")
    func strayByteShown() {
        let bytes: [UInt8] = [0x41, 0xFF, 0xC0, 0x80, 0xED, 0xA0, 0x80, 0xE2, 0x82]
        #expect(
            text(VisibleText.of(SecretBytes(copying: bytes.span)))
                == #"A\xFF\xC0\x80\xED\xA0\x80\xE2\x82"#)
    }
}
