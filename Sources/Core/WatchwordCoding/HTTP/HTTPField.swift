/// A header field.
public struct HTTPField: Hashable, Sendable {
    /// The name, which is case-insensitive.
    public let name: String
    /// The value without surrounding white space.
    public let value: String

    /// Creates a header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPField] {
    /// The values of all fields with this name, ignoring case.
    public func values(of name: String) -> [String] {
        filter { $0.name.isEqualIgnoringCase(name) }.map(\.value)
    }
}

extension String {
    /// Whether the strings are equal if the case of ASCII letters is ignored.
    public func isEqualIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
