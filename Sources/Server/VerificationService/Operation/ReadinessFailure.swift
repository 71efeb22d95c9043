internal import Synchronization
package import Verification

/// Why a server is not ready to decide.
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
    /// Each change in the cause is reported once.
    func checkReadiness() async -> ReadinessFailure? {
        let failure = await readinessFailure()
        let hasChanged = lastReadinessFailure.withLock { last in
            defer { last = failure?.cause }
            return last != failure?.cause
        }
        if hasChanged { dependencies.readinessChanged(failure) }
        return failure
    }

    private func readinessFailure() async -> ReadinessFailure? {
        let state = dependencies.clockState()
        if let complaint = settings.clock.complaint(now: dependencies.now(), state: state) {
            return .clock(complaint)
        }
        do throws(VerifierError) {
            // The cheapest query that reaches the store.
            _ = try await verifier.events(after: UInt64(Int64.max), limit: 1)
            return nil
        } catch {
            return .verifier(error)
        }
    }
}
