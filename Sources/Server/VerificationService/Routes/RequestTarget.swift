/// A parsed request target: the segments of the path and the parameters of the query, decoded.
struct RequestTarget: Sendable {
    /// The path's segments, split before they were decoded, so that `%2F` does not separate
    /// segments.
    let segments: [[UInt8]]
    /// The query's parameters in their original order.
    let parameters: [(name: String, value: String)]

    /// Accepts the origin form only.
    ///
    /// Rejects a stray `%`, NUL, invalid UTF-8, and characters that a URI cannot contain (RFC 3986,
    /// appendix A).
    init(_ target: String) throws(Refusal) {
        let bytes = Array(target.utf8)
        guard bytes.first == UInt8(ascii: "/") else { throw Refusal(.malformedTarget) }
        let parts = bytes.split(
            separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var segments: [[UInt8]] = []
        let path = parts[0].dropFirst()
        for segment in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            segments.append(try Self.decoded(segment))
        }
        self.segments = segments
        var parameters: [(name: String, value: String)] = []
        if parts.count == 2, !parts[1].isEmpty {
            for parameter in parts[1].split(
                separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            {
                let pair = parameter.split(
                    separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                guard pair.count == 2 else { throw Refusal(.malformedTarget) }
                parameters.append(
                    (try Self.text(Self.decoded(pair[0])), try Self.text(Self.decoded(pair[1]))))
            }
        }
        self.parameters = parameters
    }

    private static func text(_ bytes: [UInt8]) throws(Refusal) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Refusal(.malformedTarget)
        }
        return text
    }

    private static func decoded(_ encoded: ArraySlice<UInt8>) throws(Refusal) -> [UInt8] {
        // The usual case: plain ASCII that needs no decoding.
        if encoded.allSatisfy(\.isInURI) { return Array(encoded) }
        var decoded: [UInt8] = []
        var index = encoded.startIndex
        while index < encoded.endIndex {
            let byte = encoded[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < encoded.endIndex, let high = encoded[index + 1].hexDigit,
                    let low = encoded[index + 2].hexDigit
                else { throw Refusal(.malformedTarget) }
                decoded.append(high << 4 | low)
                index += 3
            } else {
                guard byte.isInURI else { throw Refusal(.malformedTarget) }
                decoded.append(byte)
                index += 1
            }
        }
        guard !decoded.contains(0), String(validating: decoded, as: UTF8.self) != nil else {
            throw Refusal(.malformedTarget)
        }
        return decoded
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Unreserved characters, sub-delimiters, colon and at sign.
    ///
    /// `+` is a literal plus sign.
    fileprivate var isInURI: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","),
            UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "@"):
            true
        default: false
        }
    }
}
