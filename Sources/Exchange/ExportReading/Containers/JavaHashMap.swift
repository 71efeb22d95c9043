internal import Exports
internal import WatchwordCryptography

/// Reads a serialised `java.util.HashMap` whose keys are strings: FreeOTP 2's backup.
///
/// It reads exactly what such a map consists of (Java Object Serialization Specification, section
/// 6.4.2) and refuses every other object. Nothing is instantiated. Values that are not strings are
/// skipped.
struct JavaHashMap {
    private enum Tag {
        static let null: UInt64 = 0x70
        static let reference: UInt64 = 0x71
        static let classDescription: UInt64 = 0x72
        static let object: UInt64 = 0x73
        static let string: UInt64 = 0x74
        static let endBlockData: UInt64 = 0x78
        static let longString: UInt64 = 0x7C
    }

    /// The objects that a later reference can refer to, numbered in order from 0x7E0000.
    private enum Referent {
        case string(SecretBytes)
        /// A class of boxed values, with the length of a value.
        case boxClass(count: Int)
        case other
    }

    private static let boxes = [
        "Boolean", "Byte", "Character", "Short", "Integer", "Long", "Float", "Double", "Number",
    ]
    private static let maximumCount: UInt64 = 50_000

    /// The members whose values are strings, in the order of the file, as UTF-8.
    private(set) var members: [(key: String, value: SecretBytes)] = []
    private var parts: BinaryParts
    private var referents: [Referent] = []

    init(_ file: SecretBytes) throws(ExportError) {
        parts = BinaryParts(file, .freeOTP)
        try expect([0xAC, 0xED, 0, 5, 0x73, 0x72])
        try expect(name: "java.util.HashMap")
        // The version and the flags.
        try expect([0x05, 0x07, 0xDA, 0xC1, 0xC3, 0x16, 0x60, 0xD1, 0x03])
        // Android 6 and older have their own `HashMap`, which writes only the first field.
        let fieldCount = Int(try parts.number(width: 2))
        guard (1...2).contains(fieldCount) else { throw .damaged(.freeOTP) }
        try expect([UInt8(ascii: "F")])
        try expect(name: "loadFactor")
        if fieldCount == 2 {
            try expect([UInt8(ascii: "I")])
            try expect(name: "threshold")
        }
        try expect([0x78, 0x70])
        referents = [.other, .other]
        // The values of the fields; then a block with the capacity and the number of members.
        try parts.skip(4 * fieldCount)
        try expect([0x77, 8])
        try parts.skip(4)
        let count = try parts.number(width: 4)
        guard count <= Self.maximumCount else {
            throw .overLimit(.freeOTP, .rows, found: count, allowed: Self.maximumCount)
        }
        var known: Set<String> = []
        for _ in 0..<count {
            guard let bytes = try element(), let key = bytes.decodedText(),
                known.insert(key).inserted
            else { throw .damaged(.freeOTP) }
            if let value = try element() { members.append((key, value)) }
        }
        try expect([UInt8(Tag.endBlockData)])
        guard parts.remaining == 0 else { throw .damaged(.freeOTP) }
    }

    /// The next string; `nil` for a boxed value or null.
    private mutating func element() throws(ExportError) -> SecretBytes? {
        switch try parts.number(width: 1) {
        case Tag.null: return nil
        case Tag.string: return try string(lengthWidth: 2)
        case Tag.longString: return try string(lengthWidth: 8)
        case Tag.reference:
            switch try referent() {
            case .string(let text): return text
            case .other: return nil
            case .boxClass: throw .damaged(.freeOTP)
            }
        case Tag.object:
            let count = try boxClass()
            referents.append(.other)
            try parts.skip(count)
            return nil
        default: throw .damaged(.freeOTP)
        }
    }

    /// Reads a class description, or a reference to a description; returns the length of a value.
    private mutating func boxClass() throws(ExportError) -> Int {
        switch try parts.number(width: 1) {
        case Tag.null: return 0  // There is no superclass.
        case Tag.reference:
            guard case .boxClass(let count) = try referent() else { throw .damaged(.freeOTP) }
            return count
        case Tag.classDescription: break
        default: throw .damaged(.freeOTP)
        }
        let name = try parts.take(Int(try parts.number(width: 2))).decodedText() ?? ""
        guard Self.boxes.contains(where: { name == "java.lang.\($0)" }) else {
            throw .damaged(.freeOTP)
        }
        try parts.skip(8)
        let place = referents.count
        referents.append(.other)
        // The flag: serialisable, without its own `writeObject` method.
        try expect([2])
        var count = 0
        for _ in 0..<(try parts.number(width: 2)) {
            count += try Self.count(ofType: UInt8(try parts.number(width: 1)))
            try parts.skip(Int(try parts.number(width: 2)))
        }
        try expect([UInt8(Tag.endBlockData)])
        count += try boxClass()
        referents[place] = .boxClass(count: count)
        return count
    }

    private static func count(ofType type: UInt8) throws(ExportError) -> Int {
        switch type {
        case UInt8(ascii: "B"), UInt8(ascii: "Z"): 1
        case UInt8(ascii: "C"), UInt8(ascii: "S"): 2
        case UInt8(ascii: "F"), UInt8(ascii: "I"): 4
        case UInt8(ascii: "D"), UInt8(ascii: "J"): 8
        default: throw .damaged(.freeOTP)
        }
    }

    private mutating func referent() throws(ExportError) -> Referent {
        let first: UInt64 = 0x7E0000
        let number = try parts.number(width: 4)
        guard number >= first, number - first < UInt64(referents.count) else {
            throw .damaged(.freeOTP)
        }
        return referents[Int(number - first)]
    }

    private mutating func string(lengthWidth: Int) throws(ExportError) -> SecretBytes {
        let count = try parts.number(width: lengthWidth)
        guard count <= UInt64(parts.remaining),
            let text = try parts.take(Int(count)).decodedModifiedUTF8()
        else { throw .damaged(.freeOTP) }
        referents.append(.string(text))
        return text
    }

    private mutating func expect(name: String) throws(ExportError) {
        let name = Array(name.utf8)
        try expect([0, UInt8(name.count)] + name)
    }

    private mutating func expect(_ bytes: [UInt8]) throws(ExportError) {
        guard try parts.take(bytes.count) == SecretBytes(bytes) else { throw .damaged(.freeOTP) }
    }
}

extension SecretBytes {
    /// The text as UTF-8, if these bytes are Java's modified UTF-8; otherwise `nil`.
    ///
    /// There, a character beyond U+FFFF is a pair of surrogates of three bytes each, and U+0000 has
    /// two bytes. A surrogate alone is refused.
    func decodedModifiedUTF8() -> SecretBytes? {
        var isValid = true
        let text = withBytes { bytes in
            SecretBytes(capacity: bytes.count) { output in
                var reader = ModifiedUTF8Reader()
                while let scalar = reader.next(in: bytes) {
                    guard let encoded = UTF8.encode(scalar) else { break }
                    for byte in encoded { output.append(byte) }
                }
                isValid = reader.position == bytes.count
            }
        }
        return isValid ? text : nil
    }
}

/// Iterates over the characters of modified UTF-8; it stops before an invalid character.
private struct ModifiedUTF8Reader {
    private(set) var position = 0

    mutating func next(in bytes: Span<UInt8>) -> Unicode.Scalar? {
        guard let (first, count) = unit(at: position, in: bytes) else { return nil }
        if let scalar = Unicode.Scalar(first) {
            position += count
            return scalar
        }
        guard (0xD800..<0xDC00).contains(first),
            let (second, secondCount) = unit(at: position + count, in: bytes),
            (0xDC00..<0xE000).contains(second)
        else { return nil }
        position += count + secondCount
        return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + UInt32(second) - 0xDC00)
    }

    /// The UTF-16 code unit at `start` and the number of its bytes.
    private func unit(at start: Int, in bytes: Span<UInt8>) -> (UInt16, Int)? {
        guard start < bytes.count else { return nil }
        let first = UInt16(bytes[start])
        let count: Int
        switch first {
        case 0x00..<0x80: return (first, 1)
        case 0xC0..<0xE0: count = 2
        case 0xE0..<0xF0: count = 3
        default: return nil
        }
        guard start + count <= bytes.count else { return nil }
        var value = first & (count == 2 ? 0x1F : 0x0F)
        for index in (start + 1)..<(start + count) {
            guard bytes[index] & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt16(bytes[index] & 0x3F)
        }
        // Longer forms than necessary are refused, except that of U+0000.
        guard count == 3 ? value >= 0x800 : value >= 0x80 || value == 0 else { return nil }
        return (value, count)
    }
}
