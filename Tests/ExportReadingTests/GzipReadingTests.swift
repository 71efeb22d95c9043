import ExportReading
import Exports
import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@Suite("gzip")
struct GzipReadingTests {
    /// The text "hello", compressed with gzip.
    private let hello: [UInt8] = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10,
        0x36, 5, 0, 0, 0,
    ]

    @Test("a member is decompressed to exactly its stated length")
    func decompressed() throws {
        #expect(try gunzip(hello.span, limit: 5).text == "hello")
    }

    @Test("a member that exceeds a limit is refused before it is decompressed")
    func limit() {
        #expect(throws: ContainerError.overLimit(.documentSize, found: 5, allowed: 4)) {
            _ = try gunzip(hello.span, limit: 4)
        }
        var bomb = hello
        bomb.replaceSubrange(21..., with: [0, 0, 0, 7])
        #expect(
            throws: ContainerError.overLimit(
                .compressionRatio, found: 7 << 24, allowed: UInt64((1 << 20) + 100 * hello.count))
        ) { _ = try gunzip(bomb.span, limit: 128 << 20) }
    }

    @Test("a member with a wrong length, checksum or end is refused", arguments: 0..<25)
    func damaged(index: Int) throws {
        var changed = hello
        changed[index] ^= 0x41
        // The time, the extra flags and the system are not checked.
        if (4..<10).contains(index) {
            #expect(try gunzip(changed.span, limit: 1 << 20).text == "hello")
        } else {
            #expect(throws: ContainerError.self) { _ = try gunzip(changed.span, limit: 1 << 20) }
        }
        #expect(throws: ContainerError.self) {
            _ = try gunzip(hello.span.extracting(..<index), limit: 1 << 20)
        }
        #expect(throws: ContainerError.damaged) { try gunzip((hello + [0]).span, limit: 1 << 30) }
    }
}
