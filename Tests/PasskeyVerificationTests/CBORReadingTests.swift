import Foundation
@testable import PasskeyVerification
import TestSupport
import Testing

@Suite("CBOR")
struct CBORReadingTests {
    @Test(
        "K-41 a map with the same key twice is refused", arguments: [CBORKeyOrder.any, .canonical])
    func duplicateKey(order: CBORKeyOrder) throws {
        let twice = EncodedCBOR.map([
            .init(.integer(1), .null), .init(.integer(1), .null),
        ])
        #expect(throws: PasskeyError.duplicateKey) {
            try readCBOR(twice.encoded, keyOrder: order)
        }
        let once = EncodedCBOR.numbered([1: .null, 2: .null])
        #expect(try readCBOR(once.encoded, keyOrder: order).members?.count == 2)
    }

    @Test("keys are equal if their bytes are equal, not if they are only canonically equivalent")
    func canonicallyEquivalentKeys() throws {
        let map = EncodedCBOR.named(["K": .null, "\u{212a}": .boolean(true)])
        let value = try readCBOR(map.encoded, keyOrder: .canonical)
        #expect(value.members?["K"] == .null)
        #expect(value.members?.hasExactly("K") == false)
        #expect(value.members?.hasExactly("K", "\u{212a}") == true)
    }

    @Test(
        "K-42 a string, array or map of indefinite length is refused",
        arguments: ["5f4101ff", "7f6161ff", "9f01ff", "bf0101ff", "815f4101ff"])
    func indefiniteLength(text: String) throws {
        let bytes = try Hex.bytes(text)
        #expect(throws: PasskeyError.indefiniteLength) {
            try readCBOR(bytes, keyOrder: .any)
        }
    }

    @Test("K-43 a head longer than necessary is refused, and the next larger value is accepted")
    func shortestForm() throws {
        // The largest value that a shorter head can hold, and the width of the longer head.
        for (largest, width) in [(UInt64(23), 1), (0xff, 2), (0xffff, 4), (0xffff_ffff, 8)] {
            for majorType in [UInt8(0), 1] {
                let long = EncodedCBOR.head(majorType, largest, width: width)
                #expect(throws: PasskeyError.notShortest) {
                    try readCBOR(long, keyOrder: .any)
                }
                let needed = EncodedCBOR.head(majorType, largest + 1, width: width)
                #expect(throws: Never.self) { try readCBOR(needed, keyOrder: .any) }
            }
        }
        for (majorType, payload) in [(UInt8(2), [UInt8](repeating: 1, count: 2)), (3, [97, 98])] {
            for width in [1, 2, 4, 8] {
                let long = EncodedCBOR.head(majorType, 2, width: width) + payload
                #expect(throws: PasskeyError.notShortest) {
                    try readCBOR(long, keyOrder: .any)
                }
            }
        }
        for majorType in [UInt8(4), 5] {
            for width in [1, 2, 4, 8] {
                let long = EncodedCBOR.head(majorType, 0, width: width)
                #expect(throws: PasskeyError.notShortest) {
                    try readCBOR(long, keyOrder: .any)
                }
            }
        }
    }

    @Test("K-44 a byte after the item is refused")
    func bytesLeft() throws {
        let item = EncodedCBOR.named(["fmt": .text("none")]).encoded
        #expect(throws: Never.self) { try readCBOR(item, keyOrder: .any) }
        #expect(throws: PasskeyError.bytesLeft) {
            try readCBOR(item + [0], keyOrder: .any)
        }
    }

    @Test("K-45 five levels of arrays and maps are refused, and four are accepted")
    func levels() throws {
        func nested(_ levels: Int, _ wrap: (EncodedCBOR) -> EncodedCBOR) -> [UInt8] {
            (0..<levels).reduce(.null) { inner, _ in wrap(inner) }.encoded
        }
        for wrap in [{ EncodedCBOR.array([$0]) }, { EncodedCBOR.numbered([1: $0]) }] {
            #expect(throws: Never.self) { try readCBOR(nested(4, wrap), keyOrder: .any) }
            #expect(throws: PasskeyError.overLimit(.levels)) {
                try readCBOR(nested(5, wrap), keyOrder: .any)
            }
        }
    }

    @Test("at most 64 members, 256 items and 16 KiB are accepted")
    func limits() throws {
        func array(_ count: Int) -> EncodedCBOR { .array(.init(repeating: .null, count: count)) }
        #expect(try readCBOR(array(64).encoded, keyOrder: .any).items?.count == 64)
        #expect(throws: PasskeyError.overLimit(.members)) {
            try readCBOR(array(65).encoded, keyOrder: .any)
        }
        // An array of four arrays has 1 + 4 items, plus the items inside.
        let most = EncodedCBOR.array([array(63), array(63), array(63), array(62)])
        #expect(throws: Never.self) { try readCBOR(most.encoded, keyOrder: .any) }
        let tooMany = EncodedCBOR.array([array(63), array(63), array(63), array(63)])
        #expect(throws: PasskeyError.overLimit(.items)) {
            try readCBOR(tooMany.encoded, keyOrder: .any)
        }
        let longest = EncodedCBOR.bytes(.init(repeating: 0, count: (16 << 10) - 3))
        #expect(throws: Never.self) { try readCBOR(longest.encoded, keyOrder: .any) }
        let tooLong = EncodedCBOR.bytes(.init(repeating: 0, count: (16 << 10) - 2))
        #expect(throws: PasskeyError.overLimit(.bytes)) {
            try readCBOR(tooLong.encoded, keyOrder: .any)
        }
    }

    @Test(
        "K-46 no memory is allocated for members and bytes that are only claimed",
        arguments: [
            (UInt8(4), PasskeyError.overLimit(.members)), (5, .overLimit(.members)),
            (2, .truncated), (3, .truncated),
        ])
    func claimedMembers(majorType: UInt8, error: PasskeyError) throws {
        let before = try peakKibibytes()
        for claimed in [UInt64(1) << 32, 1 << 63, .max] {
            let head = EncodedCBOR.head(majorType, claimed)
            #expect(throws: error) { try readCBOR(head, keyOrder: .any) }
            // The items are nested as deeply as permitted, and the head inside claims the same
            // length.
            let nested = EncodedCBOR.array([.array([.array([.raw(head)])])])
            #expect(throws: error) { try readCBOR(nested.encoded, keyOrder: .any) }
        }
        // Other tests of this process run at the same time.
        #expect(try peakKibibytes() - before < 8 << 10)
    }

    @Test("the order of keys is checked only on request")
    func keyOrder() throws {
        let sorted = EncodedCBOR.map([
            .init(.integer(1), .null), .init(.integer(24), .null), .init(.integer(256), .null),
            .init(.integer(-1), .null), .init(.integer(-25), .null),
            .init(.text(""), .null), .init(.text("b"), .null), .init(.text("aa"), .null),
        ])
        #expect(throws: Never.self) { try readCBOR(sorted.encoded, keyOrder: .canonical) }
        guard case .map(let members) = sorted else { return }
        for index in members.indices.dropFirst() {
            var swapped = members
            swapped.swapAt(index - 1, index)
            let bytes = EncodedCBOR.map(swapped).encoded
            #expect(throws: PasskeyError.keyOrder) {
                try readCBOR(bytes, keyOrder: .canonical)
            }
            #expect(
                try readCBOR(bytes, keyOrder: .any)
                    == readCBOR(sorted.encoded, keyOrder: .canonical))
        }
    }

    @Test(
        "a key that is neither an integer nor a text string is refused",
        arguments: ["a14000", "a18000", "a1a000", "a1f400", "a1f600"])
    func keyType(text: String) throws {
        let bytes = try Hex.bytes(text)
        #expect(throws: PasskeyError.keyType) { try readCBOR(bytes, keyOrder: .any) }
    }

    @Test(
        "a text string that is not UTF-8 is refused",
        arguments: ["61ff", "62c0af", "63eda080", "64f4908080", "61c3", "a161ff00"])
    func notUTF8(text: String) throws {
        let bytes = try Hex.bytes(text)
        #expect(throws: PasskeyError.notUTF8) { try readCBOR(bytes, keyOrder: .any) }
    }

    @Test(
        "reserved heads and a lone break are refused",
        arguments: ["1c", "3d", "5e", "7c", "9d", "be", "dc", "fc", "f814", "f820", "ff"])
    func reserved(text: String) throws {
        let bytes = try Hex.bytes(text)
        #expect(throws: PasskeyError.notWellFormed) { try readCBOR(bytes, keyOrder: .any) }
    }

    @Test("items are read one after another")
    func sequence() throws {
        let bytes = [0xff] + EncodedCBOR.numbered([1: .integer(2)]).encoded + [0x01]
        var reader = try CBORReader(bytes, from: 1)
        #expect(try reader.next(keyOrder: .canonical).members?[1] == .unsigned(2))
        #expect(reader.position == 4)
        #expect(throws: PasskeyError.bytesLeft) { try reader.finish() }
        #expect(try reader.next(keyOrder: .canonical).integer == 1)
        #expect(throws: Never.self) { try reader.finish() }
        #expect(throws: PasskeyError.truncated) { try reader.next(keyOrder: .canonical) }
    }

    /// The peak memory use of this process.
    private func peakKibibytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(separator: " ")[1]))
    }
}

@Suite("RFC 8949")
struct RFC8949Tests {
    struct Vector: Codable, Sendable {
        let encoded: String
        let diagnostic: String?
        let refused: String?
    }

    private static let vectors = Result { try VectorFile<Vector>("cbor/rfc8949.json").cases }

    @Test("the examples of appendix A decode, and items that WebAuthn does not use are refused")
    func examples() throws {
        for vector in try Self.vectors.get() {
            let bytes = try Hex.bytes(vector.encoded)
            do {
                let value = try readCBOR(bytes, keyOrder: .canonical)
                #expect(value.diagnostic == vector.diagnostic, "\(vector.encoded)")
            } catch {
                #expect("\(error)" == vector.refused, "\(vector.encoded)")
            }
        }
    }
}

extension CBORValue {
    /// The item in diagnostic notation (RFC 8949, section 8).
    fileprivate var diagnostic: String {
        switch self {
        case .unsigned(let value): "\(value)"
        // −1 − argument, which may be below the smallest Int64.
        case .negative(let argument):
            argument == .max ? "-18446744073709551616" : "-\(argument + 1)"
        case .bytes(let bytes): "h'\(Hex.text(bytes))'"
        case .text(let text): text.diagnostic
        case .array(let items): "[\(items.map(\.diagnostic).joined(separator: ", "))]"
        case .map(let map):
            "{\(map.sorted.map { "\($0): \($1.diagnostic)" }.joined(separator: ", "))}"
        case .boolean(let value): "\(value)"
        case .null: "null"
        }
    }
}

extension CBORText {
    fileprivate var diagnostic: String {
        let escaped = string.flatMap { character -> [Character] in
            character == "\"" || character == "\\" ? ["\\", character] : [character]
        }
        return "\"\(String(escaped))\""
    }
}

extension CBORMap {
    fileprivate var sorted: [(String, CBORValue)] {
        let members = keys.compactMap { key in self[key].map { (key.diagnostic, $0) } }
        return members.sorted { $0.0 < $1.0 }
    }
}

extension CBORKey {
    fileprivate var diagnostic: String {
        switch self {
        case .unsigned(let value): "\(value)"
        case .negative(let argument): "-\(argument + 1)"
        case .text(let text): text.diagnostic
        }
    }
}
