package import POSIX

/// Whose word is taken for where a request came from (OWASP ASVS 4.1.3).
package struct TrustedProxies: Sendable {
    private let blocks: [NetworkBlock]

    /// Nobody's word is taken; the other end of the connection is the client.
    package static let none = TrustedProxies([])

    /// Takes the addresses of proxies that write `X-Forwarded-For`.
    package init(_ blocks: [NetworkBlock]) { self.blocks = blocks }

    /// The client's address: the last one in the chain that is no trusted proxy.
    ///
    /// What stands before it in `X-Forwarded-For`, the client itself may have written. A chain that
    /// can't be read ends where it becomes unreadable.
    func clientAddress(of request: ServiceRequest) -> String {
        guard isTrusted(request.peer) else { return request.peer }
        var chain: [String] = []
        for value in request.values(of: "X-Forwarded-For") {
            chain += value.split(separator: ",", omittingEmptySubsequences: false)
                .map { address in String(address.filter { $0 != " " && $0 != "\t" }) }
        }
        var client = request.peer
        while isTrusted(client), let next = chain.popLast(), NetworkAddress(next) != nil {
            client = next
        }
        return client
    }

    private func isTrusted(_ text: String) -> Bool {
        guard !blocks.isEmpty else { return false }
        guard let address = NetworkAddress(text) else { return false }
        return blocks.contains { $0.contains(address) }
    }
}
