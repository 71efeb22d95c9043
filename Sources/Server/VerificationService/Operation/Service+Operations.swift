internal import Synchronization
package import Verification
package import WatchwordCoding

extension Service {
    /// Responds to `/livez`, `/readyz` and `/metrics` on the operator's listener, which must not be
    /// reachable by the public (OWASP ASVS 13.4.5).
    package func respondToOperator(_ request: HTTPRequest) async -> HTTPResponse {
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
                .ok, metrics.text(with: await readings()),
                [HTTPField("Content-Type", "text/plain; version=0.0.4; charset=utf-8")])
        default:
            if let failure = await checkReadiness() {
                let lines = [failure.cause, dependencies.advice(failure)].compactMap(\.self)
                return plain(
                    .serviceUnavailable, lines.joined(separator: "\n"),
                    [HTTPField("Retry-After", "5")])
            }
            return plain(.ok, "ready")
        }
    }

    private func readings() async -> Metrics.Readings {
        Metrics.Readings(
            addresses: limiter.count,
            deniedSubjects: deniedSubjects.count(at: dependencies.instant()),
            events: unlimited.verifier.eventCounts, isReady: await checkReadiness() == nil,
            upkeep: dependencies.upkeep())
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

/// The reason why a server is not ready.
package enum ReadinessFailure: Sendable {
    /// The clock cannot be trusted.
    case clock(ClockProblem)
    /// The store cannot be read.
    case verifier(VerifierError)

    /// The cause in the response to `/readyz` and in the log.
    package var cause: String {
        switch self {
        case .clock(let complaint): return complaint.rawValue
        case .verifier(let error):
            let refusal = Service.refusal(for: error)
            return refusal.cause ?? refusal.problem.name
        }
    }
}

extension Service {
    /// Why the server is not ready: the clock (RFC 6238, section 3, R1) or the store.
    ///
    /// Each change of the cause is reported once.
    package func checkReadiness() async -> ReadinessFailure? {
        let failure = await readinessFailure()
        // The report is made under the lock, so that the reports of two checks keep their order.
        lastReadinessFailure.withLock { last in
            guard last != failure?.cause else { return }
            last = failure?.cause
            dependencies.readinessChanged(failure)
        }
        return failure
    }

    private func readinessFailure() async -> ReadinessFailure? {
        let state = dependencies.clockState()
        if let complaint = settings.clock.obstacle(now: dependencies.now(), state: state) {
            return .clock(complaint)
        }
        do throws(VerifierError) {
            // The cheapest query that still reaches the store.
            _ = try await unlimited.verifier.events(after: UInt64(Int64.max), limit: 1)
            return nil
        } catch {
            return .verifier(error)
        }
    }
}
