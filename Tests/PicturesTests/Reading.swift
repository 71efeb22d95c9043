internal import Pictures
internal import TestSupport
internal import WatchwordSystem

/// The results for a list of images: the outcome of each image, and its symbols' bytes as text.
struct Reading: Equatable {
    var outcome: PictureOutcome
    var symbols: [String] = []

    init(_ outcome: PictureOutcome, _ symbols: [String] = []) {
        self.outcome = outcome
        self.symbols = symbols
    }

    /// An image whose only symbol is `text`.
    static func symbol(_ text: String, tried: [String] = ["echo"]) -> Reading {
        Reading(.symbols(1, tried: tried), [text])
    }

    static func refused(_ refusal: PictureRefusal) -> Reading { Reading(.refused(refusal)) }
}

extension ReaderPool {
    /// A reader that runs one of the programs built with the tests.
    convenience init(program: String, timeout: Duration = .seconds(60)) throws {
        try self.init(path: BuiltProgram.path(program), timeout: timeout)
    }

    /// Reads the files at `paths` and collects what is reported.
    func read(paths: [String]) throws -> [Reading] {
        var readings: [Reading] = []
        var symbols: [String] = []
        try read(
            paths,
            symbol: { index, bytes in
                symbols.append(text(bytes))
                precondition(index == readings.count, "symbols come in the pictures' order")
            },
            finished: { index, outcome in
                precondition(index == readings.count, "outcomes come in the pictures' order")
                readings.append(Reading(outcome, symbols))
                symbols = []
            })
        return readings
    }

    /// Reads files with the given contents.
    func read(contents: [String]) throws -> [Reading] {
        let folder = try TemporaryFolder()
        return try read(
            paths: try contents.enumerated().map { index, content in
                try folder.write(Array(content.utf8), to: "\(index)")
            })
    }

    func read(path: String) throws -> Reading {
        var symbols: [String] = []
        let outcome = try read(FileDescriptor(reading: path)) { symbols.append(text($0)) }
        return Reading(outcome, symbols)
    }
}

private func text(_ bytes: Span<UInt8>) -> String {
    String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
}
