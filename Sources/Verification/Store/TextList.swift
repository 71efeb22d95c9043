/// The encoding of several texts in one column: each text after its length in bytes.
public enum TextList {
    /// Encodes the texts.
    public static func bytes(_ texts: [String]) -> [UInt8] {
        texts.flatMap { text in
            let count = UInt32(text.utf8.count)
            return (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + text.utf8
        }
    }

    /// Decodes the result of ``bytes(_:)``; `nil` if the bytes are malformed.
    public static func read(_ bytes: [UInt8]) -> [String]? {
        var texts: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 4 else { return nil }
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count <= rest.count,
                let text = String(validating: rest.prefix(count), as: UTF8.self)
            else { return nil }
            texts.append(text)
            rest = rest.dropFirst(count)
        }
        return texts
    }
}
