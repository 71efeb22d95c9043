// One-byte values, lists and signed numbers.
extension FieldReader {
    /// Reads a byte that is 0 or 1.
    package mutating func flag(_ bytes: Span<UInt8>) throws(Unreadable) -> Bool {
        let value = try byte(bytes)
        guard value <= 1 else { throw Unreadable() }
        return value == 1
    }

    /// Reads a value whose raw value is one byte.
    package mutating func choice<Choice: RawRepresentable>(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> Choice where Choice.RawValue == UInt8 {
        guard let choice = Choice(rawValue: try byte(bytes)) else { throw Unreadable() }
        return choice
    }

    /// Reads the position of a value among all values of its type.
    package mutating func choiceByPosition<Choice: CaseIterable>(
        _ bytes: Span<UInt8>
    ) throws(Unreadable) -> Choice {
        let position = Int(try byte(bytes))
        for (index, choice) in Choice.allCases.enumerated() where index == position {
            return choice
        }
        throw Unreadable()
    }

    /// Reads a list of at most `most` elements.
    package mutating func list<Element>(
        _ bytes: Span<UInt8>, most: Int,
        _ read: (inout FieldReader, Span<UInt8>) throws(Unreadable) -> Element
    ) throws(Unreadable) -> [Element] {
        let count = Int(try number(bytes, width: 4))
        // Each element has at least one byte.
        guard count <= most, count <= bytes.count - position else { throw Unreadable() }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read(&self, bytes)) }
        return elements
    }

    /// Reads a signed number of eight bytes.
    package mutating func signedNumber(_ bytes: Span<UInt8>) throws(Unreadable) -> Int64 {
        Int64(bitPattern: try number(bytes, width: 8))
    }
}
