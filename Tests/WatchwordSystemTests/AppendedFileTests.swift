import Foundation
import TestSupport
import Testing
import WatchwordSystem

struct AppendedFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a file is created for its owner alone, and grows only at its end")
    func appending() throws {
        let path = folder.file("log")
        let file = try AppendedFile(path)
        #expect(try mode(of: path) == 0o600)
        let nothing = try file.end(atMost: 10)
        #expect(nothing == [])
        for bytes: [UInt8] in [[1, 2, 3], [4, 5]] { try file.append(bytes.span) }
        // Another writer does not change where the next bytes go.
        let other = try AppendedFile(path)
        let more: [UInt8] = [6]
        try other.append(more.span)
        try file.append(more.span)
        let (all, last) = (try file.end(atMost: 10), try file.end(atMost: 2))
        #expect(all == [1, 2, 3, 4, 5, 6, 6] && last == [6, 6])
        try file.cutOff(3)
        #expect(try folder.bytes(of: "log") == [1, 2, 3, 4])
    }

    @Test("anything but a regular file is refused")
    func refused() throws {
        let path = try folder.write([1], to: "file")
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let pipe = folder.file("pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        for place in [link, pipe, folder.path, folder.file("none/log")] {
            #expect(throws: FileError.self, "\(place)") { _ = try AppendedFile(place) }
        }
        #expect(try folder.bytes(of: "file") == [1])
    }
}
