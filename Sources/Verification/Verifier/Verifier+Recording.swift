internal import Cryptography

extension Verifier {
    /// Whether this request was answered before.
    func throwRecorded(_ key: [UInt8], _ context: DecisionContext) async throws(VerifierError) {
        let row = try await read { store throws(StoreFailure) in try await store.answer(key: key) }
        guard let row else { return }
        let sealing = try context.key(row.keyID).answerKey(row.key)
        let data = associatedData(key: row.key, request: row.request, under: row.keyID)
        let answer: SecretBytes
        do throws(SealedBoxError) {
            answer = try sealing.open(row.sealedAnswer.span, associatedData: data.span)
        } catch { throw VerifierError(error) }
        throw .answered(RecordedAnswer(request: row.request, answer: answer))
    }

    /// The answer to an outcome, sealed: it may hold what is shown only once.
    func record<Outcome>(
        _ outcome: Outcome, _ recorder: Recorder<Outcome>, _ context: DecisionContext
    ) throws(VerifierError) -> StoreChange {
        let key = context.keys.current
        let answer = recorder.answer(outcome)
        guard answer.count <= Policy.maximalAnswerCount else { throw .answerTooLong }
        let data = associatedData(key: recorder.key, request: recorder.request, under: key.id)
        let sealing = try key.answerKey(recorder.key)
        let sealed = try deciding { () throws(CryptographyFailure) in
            try sealing.seal(answer, associatedData: data.span)
        }
        return .insertAnswer(
            AnswerRow(
                key: recorder.key, request: recorder.request, keyID: key.id, sealedAnswer: sealed,
                expiresAt: context.now.adding(milliseconds: Policy.answerLifetime)))
    }

    private func associatedData(key: [UInt8], request: [UInt8], under id: KeyID) -> [UInt8] {
        var writer = ByteWriter()
        writer.write("watchword answer")
        writer.write(key)
        writer.write(request)
        writer.write(id.number)
        return writer.bytes
    }
}
