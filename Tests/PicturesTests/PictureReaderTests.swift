internal import Foundation
internal import Pictures
import ProcessConfinement
internal import TestSupport
internal import Testing
internal import WatchwordCryptography
internal import WatchwordSystem

@Suite struct PictureReaderTests {
    @Test(
        "a reader's answer arrives unchanged",
        arguments: [
            ("no symbol", Reading.refused(.noSymbol(tried: ["first", "second"]))),
            ("no picture", .refused(.notAPicture)),
            ("unsupported", .refused(.unsupported(format: "GIF"))),
            ("library missing", .refused(.libraryMissing(.heic))),
            ("damaged", .refused(.damaged)),
            ("many bytes", .refused(.tooLarge(.bytes))),
            ("many pixels", .refused(.tooLarge(.pixels))),
            ("long side", .refused(.tooLarge(.side))),
            ("many frames", .refused(.tooLarge(.frames))),
            ("out of memory", .refused(.lost(.tooMuchMemory))),
            ("two symbols", Reading(.symbols(2, tried: []), ["one", "two"])),
            ("empty symbol", Reading(.symbols(1, tried: []), [""])),
            (
                "1000 symbols",
                Reading(.symbols(1_000, tried: []), Array(repeating: "\u{1}", count: 1_000))
            ),
            ("1001 symbols", .refused(.tooManySymbols)),
            ("long symbol", .refused(.tooManySymbols)),
            (
                "wild words",
                .symbol("\u{1}", tried: ["?[2J", String(repeating: "w", count: 48)])
            ),
        ])
    func findings(order: String, expected: Reading) throws {
        #expect(try ReaderPool(program: "FaultyReader").read(contents: [order]) == [expected])
    }

    @Test("a picture that is in memory is read like a file")
    func memory() throws {
        let reader = try ReaderPool(program: "FaultyReader")
        for size in [1, 65_535, 65_536, 65_537, 200_000] {
            let picture = [UInt8](repeating: UInt8(ascii: "a"), count: size)
            var symbols: [String] = []
            let outcome = try reader.read(byteCount: size, lend: { $0(picture.span) }) {
                symbols.append(String(decoding: [UInt8](copying: $0), as: UTF8.self))
            }
            #expect(Reading(outcome, symbols) == .symbol(String(decoding: picture, as: UTF8.self)))
        }
        #expect(try reader.read(byteCount: 0, lend: { _ in }) { _ in } == .refused(.empty))
        let large = try reader.read(byteCount: 32 << 20 + 1, lend: { _ in }) { _ in }
        #expect(large == .refused(.tooLarge(.bytes)))
    }

    @Test("pictures of every size around the chunk size arrive complete")
    func sizes() throws {
        let sizes = [1, 65_531, 65_532, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 200_000]
        let contents = sizes.map { String(repeating: "a", count: $0) }
        let readings = try ReaderPool(program: "FaultyReader").read(contents: contents)
        #expect(readings == contents.map { .symbol($0) })
    }

    @Test("several processes report the results for two hundred pictures in order")
    func order() throws {
        let contents = (0..<200).map { "picture \($0)" }
        let readings = try ReaderPool(program: "FaultyReader").read(contents: contents)
        #expect(readings == contents.map { .symbol($0) })
    }

    @Test("a reader that was started in advance reads several pictures one by one")
    func oneByOne() throws {
        let folder = try TemporaryFolder()
        let reader = try ReaderPool(program: "FaultyReader")
        try reader.prepare()
        for index in 0..<3 {
            let path = try folder.write(Array("picture \(index)".utf8), to: "\(index)")
            #expect(try reader.read(path: path) == .symbol("picture \(index)"))
        }
    }

    @Test("a file that cannot hold a picture is refused unread")
    func files() throws {
        let folder = try TemporaryFolder()
        let empty = try folder.write([], to: "empty")
        let missing = folder.file("missing")
        let readings = try ReaderPool(program: "FaultyReader")
            .read(paths: [folder.path, empty, missing, "/dev/null", "/dev/zero"])
        #expect(
            readings == [
                .refused(.folder), .refused(.empty),
                .refused(.unreadable(SystemCallFailure(call: "open", number: ENOENT))),
                .refused(.notAFile), .refused(.notAFile),
            ])
    }

    @Test("a file of 32 MiB is read, and a file one byte larger is refused")
    func largest() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([], to: "large")
        let reader = try ReaderPool(program: "FaultyReader")
        for (size, expected) in [
            (32 << 20, Reading.refused(.tooManySymbols)),
            (32 << 20 + 1, .refused(.tooLarge(.bytes))),
        ] {
            let truncated = unsafe truncate(path, size)
            #expect(truncated == 0)
            #expect(try reader.read(path: path) == expected)
        }
    }

    @Test("a picture is read from a pipe, however slowly it arrives")
    func pipe() throws {
        let pipe = Pipe()
        let writer = Thread {
            for part in ["pic", "ture"] {
                pipe.fileHandleForWriting.write(Data(part.utf8))
                usleep(50_000)
            }
            pipe.fileHandleForWriting.closeFile()
        }
        writer.start()
        let number = pipe.fileHandleForReading.fileDescriptor
        let reader = try ReaderPool(program: "FaultyReader")
        #expect(try reader.read(path: "/dev/fd/\(number)") == .symbol("picture"))
    }

    @Test("a pipe with too much data is refused, and the reader can still be used")
    func endlessPipe() throws {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/cat")
        process.arguments = ["/dev/zero"]
        process.standardOutput = pipe
        try process.start()
        defer { process.terminate() }
        let number = pipe.fileHandleForReading.fileDescriptor
        let reader = try ReaderPool(program: "FaultyReader")
        #expect(try reader.read(path: "/dev/fd/\(number)") == .refused(.tooLarge(.bytes)))
        #expect(try reader.read(contents: ["after"]) == [.symbol("after")])
    }
}
