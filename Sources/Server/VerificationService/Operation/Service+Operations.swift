package import WatchwordCoding

extension Service {
    /// Answers `/livez`, `/readyz` and `/metrics` on the operator's listener, which must not be
    /// reachable by the public (OWASP ASVS 13.4.5).
    package func answerOperations(_ request: HTTPRequest) async -> HTTPResponse {
        let path = request.target.split(separator: "?", maxSplits: 1).first.map(String.init)
        guard let path, ["/livez", "/readyz", "/metrics"].contains(path) else {
            return plain(.notFound, "unknown-route")
        }
        guard [.get, .head].contains(Method(rawValue: request.method)) else {
            return plain(
                .methodNotAllowed, "method-not-allowed", [HTTPField("Allow", "GET, HEAD")])
        }
        switch path {
        case "/livez": return plain(.ok, "alive")
        case "/metrics":
            return text(
                .ok,
                metrics.text(
                    addresses: limiter.count,
                    deniedSubjects: deniedSubjects.count(at: dependencies.instant())),
                [HTTPField("Content-Type", "text/plain; version=0.0.4; charset=utf-8")])
        default:
            if let failure = await checkReadiness() {
                return plain(.serviceUnavailable, failure.cause, [HTTPField("Retry-After", "5")])
            }
            return plain(.ok, "ready")
        }
    }

    private func plain(
        _ status: Status, _ words: String, _ headers: [HTTPField] = []
    ) -> HTTPResponse {
        text(
            status, words + "\n",
            [HTTPField("Content-Type", "text/plain; charset=utf-8")] + headers)
    }

    private func text(
        _ status: Status, _ text: String, _ headers: [HTTPField]
    ) -> HTTPResponse {
        HTTPResponse(
            status: status.rawValue, headers: [HTTPField("Cache-Control", "no-store")] + headers,
            text: text)
    }
}
