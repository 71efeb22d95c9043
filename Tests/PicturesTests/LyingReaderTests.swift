internal import Pictures
internal import ProcessConfinement
internal import Testing
internal import WatchwordSystem

/// Everything that a reader sends is checked.
@Suite struct LyingReaderTests {
    @Test(
        "an answer that breaks the protocol is rejected, and the next picture gets a new reader",
        arguments: [
            "nothing in a frame", "unknown verdict", "cut short", "left over",
            "symbol beyond the end", "symbol of 4 GiB", "symbols without verdict",
            "verdict without symbols", "more symbols than allowed", "escape in a word",
            "word without letters", "words too many", "format unsaid", "frame of 4 GiB",
            "frame over the limit", "endless",
        ])
    func badResponse(lie: String) throws {
        let readings = try ReaderPool(program: "LyingReader")
            .read(contents: ["before", lie, "after"])
        #expect(
            readings == [
                .symbol("before", tried: []), .refused(.lost(.badResponse)),
                .symbol("after", tried: []),
            ])
    }

    @Test("an answer that arrives before the whole picture has been sent is rejected")
    func hasty() throws {
        let picture = "hasty" + String(repeating: "x", count: 1 << 20)
        let readings = try ReaderPool(program: "LyingReader").read(contents: [picture, "after"])
        #expect(readings == [.refused(.lost(.badResponse)), .symbol("after", tried: [])])
    }

    @Test("a second answer is not used for the next picture")
    func twice() throws {
        let reader = try ReaderPool(program: "LyingReader")
        for order in ["answer twice", "after"] {
            let expected = order == "after" ? "after" : "first"
            #expect(try reader.read(contents: [order]) == [.symbol(expected, tried: [])])
        }
    }

    @Test("a reader that stalls halfway is killed when the timeout expires")
    func silence() throws {
        let reader = try ReaderPool(program: "LyingReader", timeout: .milliseconds(300))
        #expect(try reader.read(contents: ["half a frame"]) == [.refused(.lost(.timedOut))])
    }

    @Test(
        "a reader that closes its pipe without a complete answer is reported",
        arguments: [
            ("half a frame and gone", HelperLoss.noResponse), ("close the pipe", .noResponse),
        ])
    func closing(lie: String, loss: HelperLoss) throws {
        let readings = try ReaderPool(program: "LyingReader").read(contents: [lie, "after"])
        #expect(readings == [.refused(.lost(loss)), .symbol("after", tried: [])])
    }
}
