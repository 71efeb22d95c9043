import Exports
import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

@Suite("Serialised Java maps")
struct JavaHashMapTests {
    private static func start(fieldCount: UInt8) -> [UInt8] {
        [0xAC, 0xED, 0, 5, 0x73, 0x72] + name("java.util.HashMap")
            + [0x05, 0x07, 0xDA, 0xC1, 0xC3, 0x16, 0x60, 0xD1, 0x03, 0, fieldCount, 0x46]
            + name("loadFactor")
    }

    /// A map with `count` members.
    private static func map(_ count: UInt8, _ members: [UInt8]...) -> [UInt8] {
        start(fieldCount: 2) + [0x49] + name("threshold")
            + [0x78, 0x70, 0x3F, 0x40, 0, 0, 0, 0, 0, 12, 0x77, 8, 0, 0, 0, 16, 0, 0, 0, count]
            + members.joined() + [0x78]
    }

    /// A map that Android 6 and older write, with `fieldCount` instead of one field.
    private static func oldMap(
        _ count: UInt8, fieldCount: UInt8 = 1, _ members: [UInt8]...
    ) -> [UInt8] {
        start(fieldCount: fieldCount)
            + [0x78, 0x70, 0x3F, 0x40, 0, 0, 0x77, 8, 0, 0, 0, 16, 0, 0, 0, count]
            + members.joined() + [0x78]
    }

    private static func name(_ text: String) -> [UInt8] {
        [0, UInt8(text.utf8.count)] + Array(text.utf8)
    }

    private static func string(_ text: String) -> [UInt8] { [0x74] + name(text) }

    private static let a = string("a")
    private static let one = string("1")

    /// An `Integer` with its class descriptions, which become handles 3 and 4 after one string.
    private static let integer: [UInt8] =
        [0x73, 0x72] + name("java.lang.Integer")
        + [0x12, 0xE2, 0xA0, 0xA4, 0xF7, 0x81, 0x87, 0x38, 2, 0, 1, 0x49] + name("value")
        + [0x78, 0x72] + name("java.lang.Number")
        + [0x86, 0xAC, 0x95, 0x1D, 0x0B, 0x94, 0xE0, 0x8B, 2, 0, 0, 0x78, 0x70, 0, 0, 0, 7]

    private let damaged = ExportError.damaged(.freeOTP)

    private func members(_ bytes: [UInt8]) throws -> [String] {
        try JavaHashMap(SecretBytes(copying: bytes.span)).members.map {
            "\($0.key)=\($0.value.text)"
        }
    }

    @Test("strings are read, and boxed values and null are skipped")
    func values() throws {
        let map = Self.map(
            5, Self.a, Self.one, Self.string("b"), Self.integer, Self.string("c"), [0x70],
            // A second integer refers to the class of the first.
            Self.string("d"), [0x73, 0x71, 0, 0x7E, 0, 5, 0, 0, 0, 8],
            // A string with a length of eight bytes.
            Self.string("e"), [0x7C, 0, 0, 0, 0, 0, 0, 0, 1, 0x32])
        #expect(try members(map) == ["a=1", "e=2"])
    }

    @Test("the map of Android 6 and older, which has only the first field, is read")
    func oldMap() throws {
        // The handles are the same: "a" is 0x7E0002.
        let map = Self.oldMap(2, Self.a, Self.one, Self.string("b"), [0x71, 0, 0x7E, 0, 2])
        #expect(try members(map) == ["a=1", "b=a"])
        for fieldCount in [UInt8(0), 2, 3] {
            #expect(throws: damaged) { try members(Self.oldMap(0, fieldCount: fieldCount)) }
        }
    }

    @Test("a reference is read as the string to which it refers")
    func reference() throws {
        // The class is 0x7E0000, the map 0x7E0001, "a" 0x7E0002.
        func referring(_ handle: UInt8) throws -> [String] {
            try members(Self.map(1, Self.a, [0x71, 0, 0x7E, 0, handle]))
        }
        #expect(try referring(2) == ["a=a"])
        #expect(try referring(0).isEmpty && referring(1).isEmpty)
        #expect(throws: damaged) { try referring(3) }
    }

    @Test("a key that is not a string, a duplicate key, and anything after the map are refused")
    func refused() {
        for map in [
            Self.map(1, [0x70], Self.a), Self.map(2, Self.a, Self.one, Self.a, Self.string("2")),
            Self.map(0) + [0], Array(Self.map(0).dropLast()) + [0x77],
            Self.map(2, Self.a, Self.one),
        ] {
            #expect(throws: damaged) { try members(map) }
        }
        #expect(throws: Never.self) { try members(Self.map(0)) }
    }

    @Test("objects of other classes are refused")
    func otherClasses() {
        for name in ["java.util.HashMap", "java.lang.String", "java.lang.Runtime", "x"] {
            let object: [UInt8] =
                [0x73, 0x72] + Self.name(name) + [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0x78, 0x70]
            #expect(throws: damaged) { try members(Self.map(1, Self.a, object)) }
        }
    }

    @Test("a class that is its own superclass is refused")
    func circular() {
        let object: [UInt8] =
            [0x73, 0x72] + Self.name("java.lang.Integer")
            + [0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0x78, 0x71, 0, 0x7E, 0, 3]
        #expect(throws: damaged) { try members(Self.map(1, Self.a, object)) }
    }

    @Test("a map that states too many members is refused before they are read")
    func count() {
        var map = Self.map(0)
        map.replaceSubrange(map.count - 5..<map.count - 1, with: [0x7F, 0xFF, 0xFF, 0xFF])
        #expect(
            throws: ExportError.overLimit(.freeOTP, .rows, found: 0x7FFF_FFFF, allowed: 50_000)
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
