public import WatchwordCryptography

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

    /// The object's first member with this name.
    public subscript(name: String) -> JSONValue? {
        members?.first { $0.0 == name }?.1
    }

    /// A text that is known not to be secret: the copy is never wiped.
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

    /// A text that may be secret.
    public var secretText: SecretBytes? {
        switch self {
        case .text(let text): SecretBytes(copying: Array(text.utf8).span)
        case .secret(let bytes): bytes
        default: nil
        }
    }

    /// A whole number that is not negative; it may exceed `Int64`.
    public var wholeNumber: UInt64? {
        switch self {
        case .number(let number): UInt64(exactly: number)
        case .counter(let number): number
        default: nil
        }
    }

    /// A Boolean.
    public var truth: Bool? {
        guard case .flag(let flag) = self else { return nil }
        return flag
    }
}
