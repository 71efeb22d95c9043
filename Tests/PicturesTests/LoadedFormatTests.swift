internal import Foundation
internal import Pictures
import ProcessConfinement
internal import TestSupport
internal import Testing
internal import WatchwordSystem

/// The real, confined reader and small images in every format.
@Suite struct LoadedFormatTests {
    private struct FormatPicture: Decodable {
        let file: String
        let format: String
        let texts: [String]

        var path: String {
            PackageFolder.root.appending(path: "Vectors/pictures/\(file)").path
        }
    }

    private struct Facts: Decodable { let cases: [FormatPicture] }

    private func pictures() throws -> [FormatPicture] {
        let path = PackageFolder.root.appending(path: "Vectors/pictures/formats.json")
        return try JSONDecoder().decode(Facts.self, from: Data(contentsOf: path)).cases
    }

    @Test("pictures in all formats are read in one run")
    func texts() throws {
        let pictures = try pictures()
        let readings = try ReaderPool(program: "watchword-reader").read(paths: pictures.map(\.path))
        for (picture, reading) in zip(pictures, readings) {
            #expect(
                reading.symbols.sorted() == picture.texts.sorted(), "\(picture.file): \(reading)")
        }
        let formats = Set(pictures.map(\.format))
        #expect(formats == Set(ImageFormat.allCases.map(\.rawValue)))
    }

    @Test("a picture in any format is read from a pipe", arguments: ImageFormat.allCases)
    func pipe(format: ImageFormat) throws {
        let picture = try #require(try pictures().first { $0.format == format.rawValue })
        let content = try Data(contentsOf: URL(filePath: picture.path))
        let pipe = Pipe()
        let writer = Thread {
            // The signature arrives in parts.
            pipe.fileHandleForWriting.write(content.prefix(3))
            usleep(20_000)
            pipe.fileHandleForWriting.write(content.dropFirst(3))
            pipe.fileHandleForWriting.closeFile()
        }
        writer.start()
        let number = pipe.fileHandleForReading.fileDescriptor
        let reader = try ReaderPool(program: "watchword-reader")
        #expect(try reader.read(path: "/dev/fd/\(number)").symbols == picture.texts)
    }

    @Test("a drawing that would take hours is abandoned soon, and the next one is read")
    func endlessDrawing() throws {
        let endless = """
            <svg xmlns="http://www.w3.org/2000/svg" width="2000" height="2000">
            <filter id="f" x="0" y="0" width="1" height="1">
            <feTurbulence baseFrequency="0.01" numOctaves="100000"/></filter>
            <rect width="2000" height="2000" filter="url(#f)"/></svg>
            """
        let blank = """
            <svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><g/></svg>
            """
        // The limit is five seconds of processor time, whatever the timeout is.
        let reader = try ReaderPool(program: "watchword-reader", timeout: .seconds(200))
        let start = ContinuousClock.now
        let readings = try reader.read(contents: [endless, blank])
        #expect(ContinuousClock.now - start < .seconds(150))
        #expect(readings[0] == .refused(.lost(.timedOut)))
        guard case .refused(.noSymbol) = readings[1].outcome else {
            Issue.record("\(readings[1])")
            return
        }
    }

    @Test("a reader is not killed if its library prints a warning about a picture")
    func warning() throws {
        // gdk-pixbuf warns about every PNM file that it does not decode.
        let large = "P6 60000 60000 255\n" + String(repeating: "x", count: 5_000)
        let readings = try ReaderPool(program: "watchword-reader").read(contents: [large])
        #expect(readings == [.refused(.tooLarge(.side))])
    }
}
