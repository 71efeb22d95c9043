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
        // Parameters are validated last, so that a malformed one has the same result for every
        // method.
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
