public import Cryptography

extension JSONValue {
    /// The members of an object.
    public var members: [(String, JSONValue)]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The elements of a list.
    public var elements: [JSONValue]? {
        guard case .list(let elements) = self else { return nil }
        return elements
    }

    /// The object's first member of this name.
    public subscript(name: String) -> JSONValue? {
        members?.first { $0.0 == name }?.1
    }

    /// A text, which the caller knows to be no secret: the copy is never wiped.
    public var string: String? {
        switch self {
        case .text(let text): text
        case .secret(let bytes):
            bytes.withBytes { bytes in
                String(validating: [UInt8](copying: bytes), as: UTF8.self)
            }
        default: nil
        }
    }

    /// A text as the secret that it may be.
    public var secretText: SecretBytes? {
        switch self {
        case .text(let text): SecretBytes(copying: Array(text.utf8).span)
        case .secret(let bytes): bytes
        default: nil
        }
    }

    /// A whole number, also one beyond `Int64`, unless it is negative.
    public var wholeNumber: UInt64? {
        switch self {
        case .number(let number): UInt64(exactly: number)
        case .counter(let number): number
        default: nil
        }
    }

    /// True or false.
    public var truth: Bool? {
        guard case .flag(let flag) = self else { return nil }
        return flag
    }
}
