public import WatchwordCryptography

/// An element of an XML document.
public struct XMLElement: Sendable {
    /// The name without its prefix.
    public let name: String
    /// The namespace; `nil` if there is none or its prefix is not declared.
    public let namespace: String?
    /// The attributes without namespace declarations, in their order.
    public let attributes: [XMLAttribute]
    /// The elements directly inside, in their order.
    public let children: [XMLElement]
    /// The text directly inside, as UTF-8.
    ///
    /// White space between child elements is left out if there is nothing else.
    public let text: SecretBytes

    /// The first child with this local name.
    public subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The children with this local name.
    public func children(named name: String) -> [XMLElement] {
        children.filter { $0.name == name }
    }

    /// The value of the first attribute with this local name.
    public func attribute(_ name: String) -> SecretBytes? {
        attributes.first { $0.name == name }?.value
    }

    /// The value of an attribute that is known not to be secret: the copy is never wiped.
    public func attributeString(_ name: String) -> String? {
        guard let value = attribute(name) else { return nil }
        return value.plainString
    }

    /// The text if it is known not to be secret: the copy is never wiped.
    public var string: String { text.plainString }
}

/// An attribute of an element.
public struct XMLAttribute: Sendable {
    /// The name without its prefix.
    public let name: String
    /// The namespace; `nil` if there is none.
    public let namespace: String?
    /// The value as UTF-8.
    public let value: SecretBytes
}

extension SecretBytes {
    // The parser accepts only UTF-8.
    fileprivate var plainString: String {
        withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
    }
}

extension XMLElement {
    /// The text without white space and line breaks at its ends, which are no part of a name, a
    /// number or an identifier in XML.
    var token: String {
        let inner = string.drop(while: \.isWhitespace)
        guard let last = inner.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(inner[...last])
    }
}
