internal import OneTimePassword
internal import WatchwordCryptography

/// The positions of a key URI's parts, before anything is decoded.
struct KeyURIParts {
    struct Parameter {
        /// The name in lower case.
        let name: String
        /// `name=value` as a whole.
        let whole: Range<Int>
        /// The value, which is empty if there is no `=`.
        let value: Range<Int>
    }

    /// The end of the label.
    let headEnd: Int
    /// The parameters, in their order; empty ones are left out.
    let parameters: [Parameter]

    init(_ text: Span<UInt8>) {
        let question = text.firstIndex(of: UInt8(ascii: "?"), in: 0..<text.count)
        headEnd = question ?? text.count
        var parameters: [Parameter] = []
        var start = min(headEnd + 1, text.count)
        while start < text.count {
            let end = text.firstIndex(of: UInt8(ascii: "&"), in: start..<text.count) ?? text.count
            let equals = text.firstIndex(of: UInt8(ascii: "="), in: start..<end)
            if start < end {
                // The names that are interpreted are short ASCII words.
                let name = text.extracting(start..<min(equals ?? end, start + 32))
                parameters.append(
                    Parameter(
                        name: String(decoding: [UInt8](copying: name), as: UTF8.self)
                            .asciiLowercased,
                        whole: start..<end, value: (equals.map { $0 + 1 } ?? end)..<end))
            }
            start = end + 1
        }
        self.parameters = parameters
    }

    /// The value of the first parameter with this name, if it is not empty.
    func first(_ name: String) -> Range<Int>? {
        parameters.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// The decoded label of a key URI; empty for any other text, which may be a secret.
    static func label(of text: Span<UInt8>) -> String {
        guard KeyURI.isKeyURI(text) else { return "" }
        let head = text.extracting(..<KeyURIParts(text).headEnd)
        let type = KindOfURI.type(of: head)
        guard type.upperBound + 1 < head.count else { return "" }
        return self.text(head.extracting((type.upperBound + 1)...))
    }

    /// A percent-decoded value, in which `+` is a space.
    static func decoded(_ value: Span<UInt8>) -> SecretBytes {
        var decoder = PercentDecoder(plus: .space)
        return SecretBytes(capacity: value.count) { decoder.decode(value, into: &$0) }
    }

    /// A percent-decoded value that is not secret; empty if it is not UTF-8.
    static func text(_ value: Span<UInt8>) -> String { decoded(value).decodedText() ?? "" }
}
