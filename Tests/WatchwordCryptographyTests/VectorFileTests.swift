import Foundation
import TestSupport
import Testing

@Suite("Vector files")
struct VectorFileTests {
    private struct Case: Codable, Sendable {
        let name: String
        let note: String?
    }

    @Test("a vector file is read with its source")
    func read() throws {
        let file = try load(
            #"{"source": "s", "cases": [{"name": "a"}, {"name": "b", "note": "c"}]}"#)
        #expect(file.source == "s")
        #expect(file.cases.map(\.name) == ["a", "b"])
    }

    @Test(
        "an unknown key is refused, at the top level and in a test case",
        arguments: [
            #"{"source": "s", "cases": [{"name": "a", "nam": "b"}]}"#,
            #"{"source": "s", "cases": [{"name": "a"}], "more": []}"#,
        ])
    func unknownKey(text: String) {
        #expect(throws: VectorFileError.unknownKey) { try load(text) }
    }

    @Test("a file without cases or without a source is refused")
    func incomplete() {
        #expect(throws: VectorFileError.noCases) { try load(#"{"source": "s", "cases": []}"#) }
        #expect(throws: DecodingError.self) { try load(#"{"cases": [{"name": "a"}]}"#) }
    }

    private func load(_ text: String) throws -> VectorFile<Case> {
        try VectorFile(bytes: Data(text.utf8))
    }
}
