/// Whether values of one length vary as random ones do.
///
/// Over 64 random values, a bit is set fewer than 8 or more than 56 times with a probability below
/// 10^-10, and two bytes are equal in all of them with one of 256^-64.
public struct BitVariation {
    private let values: [[UInt8]]

    /// How many values are needed.
    public static let valueCount = 64

    /// Takes ``valueCount`` values, all of one length.
    public init(_ values: [[UInt8]]) {
        precondition(values.count == Self.valueCount, "the bounds are those of 64 values")
        precondition(Set(values.map(\.count)).count == 1, "all values are equally long")
        self.values = values
    }

    /// The positions of bytes that hold a bit which hardly varies.
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
