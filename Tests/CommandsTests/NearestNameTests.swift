import Testing

@testable import CommandLineInterface
@testable import Commands

struct NearestNameTests {
    @Test(
        "the nearest name is found, or none if all are too different",
        arguments: [
            ("lsit", "list"), ("exprot", "export"), ("slott", "slot"), ("xyzzy", nil),
            ("comp", "completions"), ("", nil),
        ])
    func nearest(_ typed: String, _ meant: String?) {
        let names = ["list", "export", "slot", "completions", "code"]
        #expect(NearestName.of(typed, among: names) == meant)
    }

    @Test("a swap of adjacent letters counts as one edit")
    func swap() {
        #expect(NearestName.distance(Array("lsit"), Array("list")) == 1)
        #expect(NearestName.distance(Array("kitten"), Array("sitting")) == 3)
        #expect(NearestName.distance([], Array("abc")) == 3)
    }
}
