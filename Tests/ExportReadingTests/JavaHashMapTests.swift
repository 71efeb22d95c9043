import Exports
import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

@Suite("Serialised Java maps")
struct JavaHashMapTests {
    /// The header of a map with `count` members.
    private static func header(_ count: Int) -> [UInt8] {
        [0xAC, 0xED, 0, 5, 0x73, 0x72] + name("java.util.HashMap")
            + [0x05, 0x07, 0xDA, 0xC1, 0xC3, 0x16, 0x60, 0xD1, 0x03, 0, 2, 0x46]
            + name("loadFactor") + [0x49] + name("threshold")
            + [0x78, 0x70, 0x3F, 0x40, 0, 0, 0, 0, 0, 12, 0x77, 8, 0, 0, 0, 16, 0, 0, 0]
            + [UInt8(count)]
    }

    /// The header that Android 6 and older write, with `fieldCount` instead of one field.
    private static func oldHeader(_ count: UInt8, fieldCount: UInt8 = 1) -> [UInt8] {
        [0xAC, 0xED, 0, 5, 0x73, 0x72] + name("java.util.HashMap")
            + [0x05, 0x07, 0xDA, 0xC1, 0xC3, 0x16, 0x60, 0xD1, 0x03, 0, fieldCount, 0x46]
            + name("loadFactor")
            + [0x78, 0x70, 0x3F, 0x40, 0, 0, 0x77, 8, 0, 0, 0, 16, 0, 0, 0, count]
    }

    private static func name(_ text: String) -> [UInt8] {
        [0, UInt8(text.utf8.count)] + Array(text.utf8)
    }

    private static func string(_ text: String) -> [UInt8] { [0x74] + name(text) }

    /// An `Integer` with its class descriptions, which become handles 3 and 4 after one string.
    private static let integer: [UInt8] =
        [0x73, 0x72] + name("java.lang.Integer")
        + [0x12, 0xE2, 0xA0, 0xA4, 0xF7, 0x81, 0x87, 0x38, 2, 0, 1, 0x49] + name("value")
        + [0x78, 0x72] + name("java.lang.Number")
        + [0x86, 0xAC, 0x95, 0x1D, 0x0B, 0x94, 0xE0, 0x8B, 2, 0, 0, 0x78, 0x70, 0, 0, 0, 7]

    private func members(_ bytes: [UInt8]) throws -> [String] {
        try JavaHashMap(SecretBytes(copying: bytes.span)).members.map {
            "\($0.key)=\($0.value.text)"
        }
    }

    @Test("strings are read, and boxed values and null are skipped")
    func values() throws {
        let map =
            Self.header(5) + Self.string("a") + Self.string("1") + Self.string("b")
            + Self.integer + Self.string("c") + [0x70] + Self.string("d")
            // A second integer refers to the class of the first.
            + [0x73, 0x71, 0, 0x7E, 0, 5, 0, 0, 0, 8] + Self.string("e")
            // A string with a length of eight bytes.
            + [0x7C, 0, 0, 0, 0, 0, 0, 0, 1, 0x32, 0x78]
        #expect(try members(map) == ["a=1", "e=2"])
    }

    @Test("the map of Android 6 and older, which has only the first field, is read")
    func oldMap() throws {
        let members = Self.string("a") + Self.string("1") + Self.string("b")
        // The handles are the same: "a" is 0x7E0002.
        let map = Self.oldHeader(2) + members + [0x71, 0, 0x7E, 0, 2, 0x78]
        #expect(try self.members(map) == ["a=1", "b=a"])
        for fieldCount in [UInt8(0), 2, 3] {
            let map = Self.oldHeader(0, fieldCount: fieldCount) + [0x78]
            #expect(throws: ExportError.damaged(.freeOTP)) { _ = try self.members(map) }
        }
    }

    @Test("a reference stands for the string to which it refers")
    func reference() throws {
        // The class is 0x7E0000, the map 0x7E0001, "a" 0x7E0002.
        let map = Self.header(1) + Self.string("a") + [0x71, 0, 0x7E, 0, 2, 0x78]
        #expect(try members(map) == ["a=a"])
        for wrong in [UInt8(0), 1, 3] {
            let map = Self.header(1) + Self.string("a") + [0x71, 0, 0x7E, 0, wrong, 0x78]
            if wrong == 3 {
                #expect(throws: ExportError.damaged(.freeOTP)) { _ = try members(map) }
            } else {
                #expect(try members(map).isEmpty)
            }
        }
    }

    @Test("a key that is not a string, a duplicate key, and anything after the map are refused")
    func refused() {
        let maps = [
            Self.header(1) + [0x70] + Self.string("a") + [0x78],
            Self.header(2) + Self.string("a") + Self.string("1") + Self.string("a")
                + Self.string("2") + [0x78],
            Self.header(0) + [0x78, 0],
            Self.header(0) + [0x77],
            Self.header(2) + Self.string("a") + Self.string("1") + [0x78],
        ]
        for map in maps {
            #expect(throws: ExportError.damaged(.freeOTP)) { _ = try members(map) }
        }
        #expect(throws: Never.self) { _ = try members(Self.header(0) + [0x78]) }
    }

    @Test("objects of other classes are refused")
    func otherClasses() {
        for name in ["java.util.HashMap", "java.lang.String", "java.lang.Runtime", "x"] {
            let object: [UInt8] =
                [0x73, 0x72] + Self.name(name) + [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0x78, 0x70]
            #expect(throws: ExportError.damaged(.freeOTP)) {
                _ = try members(Self.header(1) + Self.string("a") + object + [0x78])
            }
        }
    }

    @Test("a class that is its own superclass is refused")
    func circular() {
        let object: [UInt8] =
            [0x73, 0x72] + Self.name("java.lang.Integer")
            + [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0x78, 0x71, 0, 0x7E, 0, 3]
        #expect(throws: ExportError.damaged(.freeOTP)) {
            _ = try members(Self.header(1) + Self.string("a") + object + [0x78])
        }
    }

    @Test("a map that states too many members is refused before they are read")
    func count() {
        var map = Self.header(0) + [0x78]
        map.replaceSubrange(map.count - 5..<map.count - 1, with: [0x7F, 0xFF, 0xFF, 0xFF])
        #expect(
            throws: ExportError.overLimit(
                .freeOTP, .rows, found: 0x7FFF_FFFF, allowed: 50_000)
        ) { _ = try members(map) }
    }

    @Test(
        "modified UTF-8 becomes UTF-8",
        arguments: [
            ("61", "a"), ("c3a9", "é"), ("e282ac", "€"), ("eda0bdedb880", "😀"), ("c080", "\0"),
            ("", ""),
        ])
    func modifiedUTF8(hex: String, text: String) throws {
        #expect(try SecretBytes(hex: hex).decodedModifiedUTF8()?.text == text)
    }

    @Test(
        "bytes that are not modified UTF-8 are refused",
        arguments: ["f09f9880", "eda0bd", "edb880", "eda0bdeda0bd", "c3", "e282", "c181", "e08080"])
    func notModifiedUTF8(hex: String) throws {
        #expect(try SecretBytes(hex: hex).decodedModifiedUTF8().map { _ in true } == nil)
    }
}
