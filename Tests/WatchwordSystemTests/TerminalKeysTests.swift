import Testing

@testable import WatchwordSystem

struct TerminalKeysTests {
    /// The keys in `bytes`, which arrive in these pieces.
    private func keys(_ pieces: [UInt8]..., isComplete: Bool = false) -> [TerminalKey] {
        var keys = TerminalKeys()
        var found: [TerminalKey] = []
        for piece in pieces {
            keys.append(piece)
            while let key = keys.next(isComplete: false) { found.append(key) }
        }
        if isComplete, let key = keys.next(isComplete: true) { found.append(key) }
        return found
    }

    @Test(
        "a terminal's sequences are recognised in both of its modes, and with modifiers",
        arguments: [
            ("\u{1B}[A", TerminalKey.up), ("\u{1B}OA", .up), ("\u{1B}[1;5A", .up),
            ("\u{1B}[B", .down), ("\u{1B}OB", .down), ("\u{1B}[5~", .pageUp),
            ("\u{1B}[6~", .pageDown), ("\u{1B}[6;2~", .pageDown), ("\u{1B}[H", .home),
            ("\u{1B}OH", .home), ("\u{1B}[1~", .home), ("\u{1B}[7~", .home), ("\u{1B}[F", .end),
            ("\u{1B}[4~", .end), ("\r", .enter), ("\n", .enter), ("\u{7F}", .backspace),
            ("\u{8}", .backspace), ("\u{3}", .control("c")), ("\u{10}", .control("p")),
            ("a", .character("a")), ("ß", .character("ß")), ("你", .character("你")),
            ("😀", .character("😀")), (" ", .character(" ")),
        ])
    func sequences(_ text: String, _ key: TerminalKey) {
        #expect(keys(Array(text.utf8)) == [key])
        // The keys in the same bytes, which arrive one by one.
        var byByte = TerminalKeys()
        var found: [TerminalKey] = []
        for byte in text.utf8 {
            byByte.append([byte])
            if let key = byByte.next(isComplete: false) { found.append(key) }
        }
        #expect(found == [key])
        #expect(byByte.isEmpty)
    }

    @Test("several keys that arrive together are all returned, in order")
    func together() {
        #expect(
            keys(Array("a\u{1B}[Bß\r".utf8)) == [
                .character("a"), .down, .character("ß"), .enter,
            ])
    }

    @Test("an escape character is a key only if nothing follows it")
    func escape() {
        #expect(keys([0x1B]) == [])
        #expect(keys([0x1B], isComplete: true) == [.escape])
        #expect(keys([0x1B], Array("[A".utf8), isComplete: true) == [.up])
        #expect(keys([0x1B, 0x1B], isComplete: true) == [.escape, .escape])
        // An unfinished sequence has no other meaning.
        #expect(keys(Array("\u{1B}[1".utf8), isComplete: true) == [.escape])
    }

    @Test(
        "unsupported sequences, and bytes that are not text, are skipped",
        arguments: [
            Array("\u{1B}[2~".utf8), Array("\u{1B}[200~".utf8), Array("\u{1B}[15~".utf8),
            Array("\u{1B}x".utf8), [0xFF], [0xC3, 0x28], [0x00], Array("\u{200B}".utf8),
        ])
    func skipped(_ bytes: [UInt8]) {
        #expect(keys(bytes, Array("z".utf8)).last == .character("z"))
        #expect(keys(bytes, Array("z".utf8)).count == 1)
    }

    @Test("an endless sequence does not use up memory")
    func endless() {
        let long = Array("\u{1B}[".utf8) + [UInt8](repeating: UInt8(ascii: "1"), count: 1000)
        #expect(keys(long, Array("z".utf8)).last == .character("z"))
    }
}
