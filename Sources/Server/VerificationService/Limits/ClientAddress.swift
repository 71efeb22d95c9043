internal import WatchwordCoding
package import WatchwordSystem

/// The proxies whose `X-Forwarded-For` is trusted (OWASP ASVS 4.1.3).
package struct TrustedProxies: Sendable {
    private let blocks: [NetworkBlock]

    /// No proxy is trusted; the peer of the connection is the client.
    package static let none = TrustedProxies([])

    /// - Parameter blocks: the addresses of proxies that write `X-Forwarded-For`.
    package init(_ blocks: [NetworkBlock]) { self.blocks = blocks }

    /// The client's address: the last address in the chain that is not a trusted proxy.
    ///
    /// The client itself may have written the elements before that address in `X-Forwarded-For`.
    /// The chain ends at the first element, from the right, that cannot be parsed.
    func clientAddress(of request: HTTPRequest) -> String {
        guard isTrusted(request.peer) else { return request.peer }
        var chain: [Substring] = []
        for value in request.headers.values(of: "X-Forwarded-For") {
            chain += value.split(separator: ",", omittingEmptySubsequences: false)
        }
        var client = request.peer
        while isTrusted(client), let next = chain.popLast().flatMap(ForwardedAddress.init) {
            client = next.text
        }
        return client
    }

    /// Whether this address belongs to a trusted proxy.
    package func isTrusted(_ text: String) -> Bool {
        guard !blocks.isEmpty else { return false }
        guard let address = NetworkAddress(text) else { return false }
        return blocks.contains { $0.contains(address) }
    }
}

/// An address in one of the forms that proxies write: plain, with a port, in brackets, or quoted.
struct ForwardedAddress {
    /// The numeric address without port, brackets and quotation marks.
    let text: String

    /// Accepts `7.7.7.7`, `7.7.7.7:1234`, `::1`, `[::1]` and `[::1]:1234`, each also in quotation
    /// marks.
    init?(_ element: Substring) {
        var rest = element.trimmed { $0 == " " || $0 == "\t" }
        if rest.count >= 2, rest.first == "\"", rest.last == "\"" {
            rest = rest.dropFirst().dropLast()
        }
        let host: Substring
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            guard host.contains(":") else { return nil }
        } else if let colon = rest.firstIndex(of: ":"),
            !rest[rest.index(after: colon)...].contains(":")
        {
            host = rest[..<colon]
            rest = rest[colon...]
        } else {
            host = rest
            rest = ""
        }
        guard rest.isEmpty || rest.first == ":" && Self.isPort(rest.dropFirst()),
            NetworkAddress(String(host)) != nil
        else { return nil }
        text = String(host)
    }

    private static func isPort(_ digits: Substring) -> Bool {
        digits.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(digits) != nil
    }
}

extension Substring {
    fileprivate func trimmed(_ isBlank: (Character) -> Bool) -> Substring {
        let start = drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return "" }
        return start[...last]
    }
}
