/// Checks whether values of one length vary as random values do.
///
/// Over 64 random values, the probability that a bit is set fewer than 8 or more than 56 times is
/// below 10^-10, and the probability that two bytes are equal in all of them is 256^-64.
public struct BitVariation {
    private let values: [[UInt8]]

    /// The number of values that the check needs.
    public static let valueCount = 64

    /// Expects ``valueCount`` values of the same length.
    public init(_ values: [[UInt8]]) {
        precondition(values.count == Self.valueCount, "the bounds hold for 64 values")
        precondition(Set(values.map(\.count)).count == 1, "all values must have the same length")
        self.values = values
    }

    /// The positions of bytes that contain a bit that hardly varies.
    public var constantBytes: [Int] {
        values[0].indices.filter { index in
            (0..<8).contains { bit in
                !(8...56).contains(values.count { $0[index] >> bit & 1 == 1 })
            }
        }
    }

    /// The positions of bytes that always repeat an earlier byte.
    public var repeatedBytes: [Int] {
        values[0].indices.filter { index in
            (0..<index).contains { earlier in values.allSatisfy { $0[index] == $0[earlier] } }
        }
    }
}
