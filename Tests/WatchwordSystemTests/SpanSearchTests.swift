import Testing
import WatchwordSystem

struct SpanSearchTests {
    private let text = "one two one"

    private func place(of character: Unicode.Scalar, in text: String, from start: Int) -> Int? {
        let bytes = Array(text.utf8)
        return bytes.span.firstIndex(of: UInt8(ascii: character), from: start)
    }

    private func does(_ text: String, hold part: String, at start: Int) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.span.holds(part, at: start)
    }

    @Test("the first occurrence of a byte at or after the start is found")
    func firstIndex() {
        #expect(place(of: "e", in: text, from: 0) == 2)
        #expect(place(of: "e", in: text, from: 2) == 2)
        #expect(place(of: "e", in: text, from: 3) == 10)
        #expect(place(of: "e", in: text, from: 11) == nil)
        #expect(place(of: "e", in: text, from: 99) == nil)
        #expect(place(of: "x", in: text, from: 0) == nil)
        #expect(place(of: "e", in: "", from: 0) == nil)
    }

    @Test("a text matches at an index only if all of its bytes do")
    func holds() {
        #expect(does(text, hold: "two", at: 4))
        #expect(!does(text, hold: "two", at: 3))
        #expect(does(text, hold: "one", at: 8))
        #expect(!does(text, hold: "one ", at: 8))
        #expect(!does(text, hold: "one", at: 12))
        #expect(does(text, hold: "", at: 11))
        #expect(does("", hold: "", at: 0))
        #expect(!does(text, hold: "", at: 12))
    }
}
