internal import WatchwordCryptography

/// The time until which a recorded response that contains a credential's secrets is returned,
/// unless the credential ends earlier.
package enum AnswerEnd: Sendable {
    /// Until the credential is confirmed, or its device has fetched its secret.
    case confirmation
    /// Until the credential is used for the first time.
    case use
    /// Until the credential ends: a device that lost a response can get it again.
    case end
}

extension Verifier {
    /// The recorded response to this request.
    ///
    /// - Parameter end: the time until which a response that contains secrets is returned.
    func recorded(
        _ key: [UInt8]?, until end: AnswerEnd, _ context: DecisionContext
    ) async throws(VerifierError) -> RecordedAnswer? {
        guard let key else { return nil }
        let row = try await read { store throws(StoreFailure) in try await store.answer(key: key) }
        guard let row else { return nil }
        guard let sealed = row.sealed, context.now < row.expiresAt,
            try await !isOver(end, secretsOf: row.credential)
        else {
            return RecordedAnswer(request: row.request, answer: nil)
        }
        let sealing = try context.key(sealed.keyID).answerKey(row.key)
        let data = associatedData(row.key, row.request, row.credential, sealed.keyID)
        do throws(CryptographyError) {
            let answer = try sealing.open(sealed.bytes.span, associatedData: data.span)
            return RecordedAnswer(request: row.request, answer: answer)
        } catch { throw VerifierError(error) }
    }

    /// Whether a credential's secrets may no longer be returned.
    ///
    /// The response's own row does not decide that, because an attacker with write access to the
    /// database could put an earlier copy of it back.
    private func isOver(
        _ end: AnswerEnd, secretsOf id: CredentialID?
    ) async throws(VerifierError) -> Bool {
        guard let id else { return false }
        guard let record = try await record(id) else { return true }
        guard record.state == .pending || record.state == .active else { return true }
        return switch end {
        case .confirmation: record.state != .pending
        case .use: record.lastUsedAt != nil
        case .end: false
        }
    }

    /// The row that records the response to a decision, sealed because it may contain secrets that are shown
    /// only once.
    package func record<Outcome>(
        _ decision: Decision<Outcome>, _ recorder: Recorder<Outcome>, _ context: DecisionContext
    ) throws(VerifierError) -> AnswerRow {
        let key = context.keys.current
        let answer = recorder.answer(decision.outcome)
        guard answer.count <= Policy.maximumAnswerCount else { throw .answerTooLong }
        let data = associatedData(recorder.key, recorder.request, decision.secretsOf, key.id)
        let sealing = try key.answerKey(recorder.key)
        let sealed = sealing.seal(answer, associatedData: data.span)
        return AnswerRow(
            key: recorder.key, request: recorder.request, credential: decision.secretsOf,
            sealed: AnswerRow.Sealed(sealed, under: key.id),
            expiresAt: context.now.adding(milliseconds: Policy.answerLifetime))
    }

    private func associatedData(
        _ key: [UInt8], _ request: [UInt8], _ credential: CredentialID?, _ id: KeyID
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("watchword answer")
        writer.write(key)
        writer.write(request)
        writer.writeOptional(credential) { $0.write($1.bytes) }
        writer.write(id.number)
        return writer.bytes
    }
}
