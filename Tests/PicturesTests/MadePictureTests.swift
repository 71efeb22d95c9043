internal import Foundation
internal import Pictures
internal import TestSupport
internal import Testing

/// The real, confined reader and the project's own images.
@Suite struct MadePictureTests {
    @Test("every test picture yields its texts and nothing else")
    func texts() throws {
        let pictures = try MadePicture.all()
        let readings = try ReaderPool(program: "watchword-reader")
            .read(paths: pictures.map(\.path))
        #expect(readings.count == pictures.count)
        for (picture, reading) in zip(pictures, readings) {
            #expect(reading.symbols.sorted() == picture.texts.sorted(), "\(picture.file)")
            switch reading.outcome {
            case .symbols(let count, let tried):
                #expect(count == picture.texts.count, "\(picture.file)")
                #expect(tried.first == "finder patterns")
            case .refused(let refusal):
                #expect(picture.texts.isEmpty, "\(picture.file): \(refusal)")
                guard case .noSymbol(let tried) = refusal else {
                    Issue.record("\(picture.file): \(refusal)")
                    continue
                }
                #expect(tried.count > 3, "more than one stage was tried")
            }
        }
    }

    @Test("qr.json lists every test picture")
    func files() throws {
        let folder = PackageFolder.root.appending(path: "Vectors/qr").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(files.sorted() == (try MadePicture.all()).map(\.file).sorted())
    }

    @Test(
        "a truncated picture is read or refused, and never crashes the reader",
        arguments: ["png-1bit.png", "webp-lossless.webp", "wrong-name.png"])
    func truncated(name: String) throws {
        let folder = try TemporaryFolder()
        let picture = try #require(try MadePicture.all().first { $0.file == name })
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: picture.path)))
        // Cuts at every byte of the header, and some cuts further on.
        let cuts = Array(0..<24) + Array(stride(from: 24, to: bytes.count, by: bytes.count / 4))
        let paths = try cuts.map { try folder.write(Array(bytes.prefix($0)), to: "\($0)") }
        let readings = try ReaderPool(program: "watchword-reader").read(paths: paths)
        for (cut, reading) in zip(cuts, readings) {
            switch reading.outcome {
            case .symbols: #expect(reading.symbols == picture.texts, "cut at \(cut)")
            case .refused(.notAPicture), .refused(.damaged): break
            case .refused(.empty): #expect(cut == 0)
            case .refused(let refusal): Issue.record("cut at \(cut): \(refusal)")
            }
        }
    }
}
