extension String {
    /// Whether the text begins or ends with a space of any kind.
    ///
    /// Every character of Unicode's category of space separators counts: users cannot see which
    /// kind of space is at an end, or that there is one.
    public var hasSpaceAround: Bool {
        unicodeScalars.first?.isSpace ?? false || unicodeScalars.last?.isSpace ?? false
    }

    /// The text without spaces of any kind at its ends.
    package var trimmed: String {
        let inner = unicodeScalars.drop(while: \.isSpace)
        guard let last = inner.lastIndex(where: { !$0.isSpace }) else { return "" }
        return String(inner[...last])
    }
}

extension Unicode.Scalar {
    fileprivate var isSpace: Bool {
        isASCII ? self == " " : properties.generalCategory == .spaceSeparator
    }
}
