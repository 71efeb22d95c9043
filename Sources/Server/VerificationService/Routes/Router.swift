internal import OneTimePassword
internal import WatchwordCryptography

/// Finds the route of a request.
enum Router {
    /// A route and the parameters in the path.
    struct Match: Sendable {
        let route: Route
        let parameters: [String: String]
        /// Whether the response omits its content (RFC 9110, section 9.3.2).
        let isHead: Bool
    }

    /// The result of routing.
    enum Finding: Sendable {
        case match(Match)
        /// The methods of the path, in response to `OPTIONS` (RFC 9110, section 9.3.7).
        case options([Method])
        /// A page or file for browsers.
        case page(PageResource)
    }

    /// Finds the route.
    ///
    /// An unknown path is reported before an unsupported method.
    static func find(method: String, segments: [[UInt8]]) throws(Refusal) -> Finding {
        let candidates = RouteTable.all.compactMap { route in
            parameters(of: route, segments).map { (route, $0) }
        }
        guard let first = candidates.first else { throw Refusal(.unknownRoute) }
        let methods = methods(of: candidates.map(\.0))
        guard let method = Method(rawValue: method), methods.contains(method) else {
            throw Refusal(.methodNotAllowed(methods))
        }
        if method == .options { return .options(methods) }
        let asked = method == .head ? Method.get : method
        let (route, values) = candidates.first { $0.0.method == asked } ?? first
        // Parameters are validated last, so that a malformed parameter has the same result for
        // every method.
        for part in route.path {
            guard case .parameter(let name, let form) = part, let value = values[name] else {
                continue
            }
            guard form.accepts(SecretBytes(copying: value.span)) else {
                throw Refusal(.malformedTarget)
            }
        }
        return .match(
            Match(
                route: route,
                parameters: values.mapValues { String(decoding: $0, as: UTF8.self) },
                isHead: method == .head))
    }

    /// The methods of routes that share a path, including the implied `HEAD` and `OPTIONS`.
    static func methods(of routes: [Route]) -> [Method] {
        var methods = routes.map(\.method)
        if methods.contains(.get) { methods.append(.head) }
        return methods + [.options]
    }

    private static func parameters(of route: Route, _ segments: [[UInt8]]) -> [String: [UInt8]]? {
        guard route.path.count == segments.count else { return nil }
        var values: [String: [UInt8]] = [:]
        for (part, segment) in zip(route.path, segments) {
            switch part {
            case .word(let word): guard word.utf8.elementsEqual(segment) else { return nil }
            case .parameter(let name, _):
                guard !segment.isEmpty else { return nil }
                values[name] = segment
            }
        }
        return values
    }
}

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
        // In the usual case, the target is plain ASCII that needs no decoding.
        if encoded.allSatisfy(\.isInURI) { return Array(encoded) }
        var decoded: [UInt8] = []
        var index = encoded.startIndex
        while index < encoded.endIndex {
            let byte = encoded[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < encoded.endIndex,
                    let high = encoded[index + 1].hexDigitValue,
                    let low = encoded[index + 2].hexDigitValue
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
