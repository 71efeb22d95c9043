/// Identifies a record permanently: 16 random bytes, never reused.
public struct RecordID: Hashable, Sendable {
    // Two integers instead of an array, so that thousands of IDs need no allocations.
    private let high: UInt64
    private let low: UInt64

    static let count = 16
    /// The length of ``text`` in characters.
    public static let textCount = 2 * count

    /// Creates an ID from 16 bytes.
    init(_ bytes: Span<UInt8>) {
        precondition(bytes.count == RecordID.count, "a record ID has 16 bytes")
        var words: (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            words.0 = words.0 << 8 | UInt64(bytes[index])
            words.1 = words.1 << 8 | UInt64(bytes[index + 8])
        }
        (high, low) = words
    }

    /// The 16 bytes.
    var bytes: [UInt8] {
        (0..<16).map { index in
            UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64(56 - 8 * (index % 8)))
        }
    }

    /// Whether its bytes come before those of `other`.
    func precedes(_ other: RecordID) -> Bool { (high, low) < (other.high, other.low) }

    /// 32 hexadecimal digits, which stay the same when the entry is renamed.
    public var text: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * RecordID.count)
        for word in [high, low] {
            for shift in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 15
                digits.append(
                    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
