internal import Cryptography

/// Until when an answer that hands out a credential's secrets is given again, if the credential does
/// not end before.
enum AnswerEnd: Sendable {
    /// Until the credential is confirmed, or its device has fetched its secret.
    case confirmation
    /// Until the credential is used for the first time.
    case use
    /// Until the credential ends: a device that lost a reply gets it again.
    case end
}

extension Verifier {
    /// What was answered to this request before.
    ///
    /// - Parameter end: until when an answer that hands out secrets is given.
    func recorded(
        _ key: [UInt8]?, until end: AnswerEnd, _ context: DecisionContext
    ) async throws(VerifierError) -> RecordedAnswer? {
        guard let key else { return nil }
        let row = try await read { store throws(StoreFailure) in try await store.answer(key: key) }
        guard let row else { return nil }
        guard let sealed = row.sealed, try await !isOver(end, secretsOf: row.credential) else {
            return RecordedAnswer(request: row.request, answer: nil)
        }
        let sealing = try context.key(sealed.keyID).answerKey(row.key)
        let data = associatedData(row.key, row.request, row.credential, sealed.keyID)
        do throws(SealedBoxError) {
            let answer = try sealing.open(sealed.bytes.span, associatedData: data.span)
            return RecordedAnswer(request: row.request, answer: answer)
        } catch { throw VerifierError(error) }
    }

    /// Whether a credential's secrets may no longer be read again.
    ///
    /// The answer's own row does not decide that: somebody who writes to the database could have put an
    /// earlier copy of it back.
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

    /// The answer to a decision, sealed: it may hold what is shown only once.
    func record<Outcome>(
        _ decision: Decision<Outcome>, _ recorder: Recorder<Outcome>, _ context: DecisionContext
    ) throws(VerifierError) -> StoreChange {
        let key = context.keys.current
        let answer = recorder.answer(decision.outcome)
        guard answer.count <= Policy.maximalAnswerCount else { throw .answerTooLong }
        let data = associatedData(recorder.key, recorder.request, decision.secretsOf, key.id)
        let sealing = try key.answerKey(recorder.key)
        let sealed = try deciding { () throws(CryptographyFailure) in
            try sealing.seal(answer, associatedData: data.span)
        }
        return .insertAnswer(
            AnswerRow(
                key: recorder.key, request: recorder.request, credential: decision.secretsOf,
                sealed: AnswerRow.Sealed(sealed, under: key.id),
                expiresAt: context.now.adding(milliseconds: Policy.answerLifetime)))
    }

    private func associatedData(
        _ key: [UInt8], _ request: [UInt8], _ credential: CredentialID?, _ id: KeyID
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("watchword answer")
        writer.write(key)
        writer.write(request)
        writer.writeIfThere(credential) { $0.write($1.bytes) }
        writer.write(id.number)
        return writer.bytes
    }
}
