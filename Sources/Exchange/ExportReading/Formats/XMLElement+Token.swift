extension XMLElement {
    /// The text without white space and line breaks at its ends, which are no part of a name, a
    /// number or an identifier in XML.
    var token: String {
        let inner = string.drop(while: \.isWhitespace)
        guard let last = inner.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(inner[...last])
    }
}
