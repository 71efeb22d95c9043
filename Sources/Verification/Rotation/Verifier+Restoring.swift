extension Verifier {
    /// Makes a database that came from a backup safe to serve: what was spent since the backup was
    /// made is not known, so all that could have been is refused from now on.
    ///
    /// To be done before anybody is served. TOTP codes up to now, the window ahead included, are
    /// spent. Counters, recovery codes, enrolled secrets and pending enrolments end, since nobody
    /// knows which of theirs were used, and their owners enrol anew. Clients that were revoked after
    /// the backup are back: that is for the operator to look at. It may be broken off and begun
    /// again.
    ///
    /// - Returns: how many credentials ended.
    public func settleRestored() async throws(VerifierError) -> Int {
        var ended = 0
        var last: CredentialID?
        while true {
            let after = last
            let rows = try await read { store throws(StoreFailure) in
                try await store.credentials(under: nil, after: after, limit: 64)
            }
            guard let end = rows.last else { break }
            for row in rows where row.state != .revoked { ended += try await settle(row.id) }
            last = end.id
        }
        _ = try await decide(.unknown, recorder: nil) { context in
            Decision(
                outcome: (),
                changes: [context.event(.restored, subject: nil, number: Int64(ended))])
        }
        return ended
    }

    private func settle(_ id: CredentialID) async throws(VerifierError) -> Int {
        try await decide(.unknown, recorder: nil) { context throws(VerifierError) in
            guard var record = try await record(id), record.state != .revoked else {
                return Decision(outcome: 0, changes: [])
            }
            let before = record.state
            switch (record.state, record.material) {
            case (.active, .time(var password)):
                if let last = password.expectedStep(at: context.now)?
                    .advanced(byChecking: context.policy.profile.ahead)
                {
                    password.spend(through: last)
                }
                record.material = .time(password)
            case (.active, .counter):
                record.end(as: .disabled, because: .restored, at: context.now)
            case (.disabled, _): return Decision(outcome: 0, changes: [])
            default:
                // It may have come into use after the backup: its key is not free for another.
                let fingerprint = record.fingerprint
                record.end(as: .revoked, because: .restored, at: context.now)
                record.fingerprint = fingerprint
            }
            var changes: [StoreChange] = [
                .updateCredential(record.row), .dropTickets(of: record.id),
            ]
            if record.state != before {
                let kind: Event.Kind = record.state == .disabled ? .disabled : .revoked
                changes.append(context.event(kind, .restored, of: record))
            }
            return Decision(outcome: record.state == before ? 0 : 1, changes: changes)
        }
    }
}
