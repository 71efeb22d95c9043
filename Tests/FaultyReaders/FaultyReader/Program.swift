internal import Faults
internal import PictureReading
internal import Pictures

/// A reader, confined like the real one, that performs the action named in the “picture”, so that
/// tests can simulate attacks.
///
/// If it is started with the name of a library, it is confined like a reader that loads one. A
/// picture without a known command is read as a symbol that contains the picture's bytes.
@main struct Program {
    static func main() {
        let findings: [String: PictureFinding] = [
            "no symbol": .symbols([], tried: ["first", "second"]),
            "no picture": .notAPicture,
            "unsupported": .unsupported(format: "GIF"),
            "library missing": .libraryMissing(.heic),
            "damaged": .damaged,
            "many bytes": .tooLarge(.bytes),
            "many pixels": .tooLarge(.pixels),
            "long side": .tooLarge(.side),
            "many frames": .tooLarge(.frames),
            "out of memory": .outOfMemory,
            "two symbols": .symbols([Array("one".utf8), Array("two".utf8)], tried: []),
            "empty symbol": .symbols([[]], tried: []),
            "1000 symbols": .symbols(Array(repeating: [1], count: 1_000), tried: []),
            "1001 symbols": .symbols(Array(repeating: [1], count: 1_001), tried: []),
            "long symbol": .symbols([Array(repeating: 1, count: 1 << 18)], tried: []),
            "wild words": .symbols([[1]], tried: ["\u{1B}[2J", String(repeating: "w", count: 99)]),
            "environment": .symbols(environment(), tried: []),
        ]
        let runsLibraries = CommandLine.arguments.count > 1
        ReaderLoop.run(runsLibraries: runsLibraries) { picture in
            // A picture that needs a library begins with its signature.
            let signature = Array("GIF89a".utf8)
            let command =
                picture.starts(with: signature) ? picture.dropFirst(signature.count) : picture[...]
            let order = String(decoding: command.prefix(40), as: UTF8.self)
            faults[order]?()
            return findings[order] ?? .symbols([picture], tried: ["echo"])
        }
    }
}
