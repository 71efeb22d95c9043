import Foundation
import TestSupport
import Testing

@testable import PictureReading

/// The shared images next to the project, and the results of other readers.
@Suite(.enabled(if: SharedPicture.folder != nil, "there are no pictures in ../shared"))
struct SharedPicturesTests {
    @Test("the reader reads at least as many pictures as zxing-cpp, and returns no wrong text")
    func share() async throws {
        let results = try await SharedPicture.readAll()
        let invented = results.filter { !$0.inventions.isEmpty }.map(\.picture.file)
        #expect(invented == [])
        let read = results.filter(\.isComplete)
        #expect(read.count >= results.filter(\.picture.zxing_cpp).count)
        // At least as many images are read as by the prototype of these stages.
        #expect(read.count >= results.filter(\.picture.ladder).count)
        for (category, members) in Dictionary(grouping: results, by: \.picture.category) {
            let own = members.filter(\.isComplete).count
            #expect(own >= members.filter(\.picture.zbar).count, "\(category)")
        }
    }
}

/// A line of the manifest.
struct SharedPicture: Decodable, Sendable {
    let file: String
    let category: String
    let expected: [String]
    let zbar: Bool
    let zxing_cpp: Bool
    let ladder: Bool

    static let folder: URL? = {
        guard let shared = PackageFolder.shared else { return nil }
        let folder = shared.appending(path: "pictures")
        let manifest = folder.appending(path: "manifest.jsonl")
        return FileManager.default.fileExists(atPath: manifest.path) ? folder : nil
    }()

    struct Result: Sendable {
        let picture: SharedPicture
        let texts: Set<[UInt8]>

        var isComplete: Bool { texts.isSuperset(of: expected) }
        var inventions: Set<[UInt8]> { texts.subtracting(expected) }
        private var expected: Set<[UInt8]> { Set(picture.expected.map { Array($0.utf8) }) }
    }

    /// Reads all PNG, JPEG and WebP files, two at a time, without a deadline.
    static func readAll() async throws -> [Result] {
        let folder = try #require(folder)
        let lines = try String(
            contentsOf: folder.appending(path: "manifest.jsonl"), encoding: .utf8)
        let pictures = try lines.split(separator: "\n")
            .map { try JSONDecoder().decode(SharedPicture.self, from: Data($0.utf8)) }
            .filter { ["png", "jpg", "webp"].contains(($0.file as NSString).pathExtension) }
        return try await withThrowingTaskGroup(of: [Result].self) { group in
            for part in 0..<2 {
                group.addTask {
                    try stride(from: part, to: pictures.count, by: 2).map { index in
                        try pictures[index].read(in: folder)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func read(in folder: URL) throws -> Result {
        let bytes = [UInt8](try Data(contentsOf: folder.appending(path: file)))
        return Result(picture: self, texts: Set(try texts(inPictureFile: bytes)))
    }
}

/// The texts in the first frame of an image file.
func texts(inPictureFile bytes: [UInt8]) throws -> [[UInt8]] {
    let image = try EncodedImage(bytes)
    let side = PictureViews.workingSide(width: image.width, height: image.height)
    let frame = try image.frame(longerSide: side)
    let views = PictureViews(
        brightness: frame.brightness, alpha: frame.alpha,
        colours: { (try? image.colours(longerSide: side)) ?? nil })
    return try readSymbols(in: views).symbols
}
