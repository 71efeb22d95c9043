internal import Cryptography

extension Verifier {
    /// Checks a code against a subject's credentials, and spends it.
    ///
    /// A wrong code counts against every credential that it was tried on; a success forgets the
    /// failures of its credential. An attempt on a subject that is not known does the same work.
    ///
    /// - Parameters:
    ///   - credential: the only one to try; all that are in use when nothing is given.
    ///   - counter: the counter that the client says an HOTP code is of (RFC 4226, appendix E.4).
    public func verify(
        _ code: PresentedCode, subject: Subject, credential: CredentialID? = nil,
        counter: UInt64? = nil, origin: Origin = .unknown,
        recorder: Recorder<VerificationOutcome>? = nil
    ) async throws(VerifierError) -> VerificationOutcome {
        var hashes: [[UInt8]: SecretBytes] = [:]
        return try await decide(origin, recorder: recorder) { context throws(VerifierError) in
            var records = try await records(of: subject)
            if let credential { records.removeAll { $0.id != credential } }
            if code.form == .recovery {
                try await hash(code, for: records, into: &hashes)
            }
            let attempt = CodeAttempt(
                code: code, purpose: .verification, counter: counter, hashes: hashes,
                context: context)
            return try attempt.decide(records, subject: subject, credential: credential)
        }
    }

    /// Brings a pending credential into use by its first code, which is spent with it.
    ///
    /// A credential that is in use already, or whose time is up, counts as unknown.
    public func confirm(
        _ credential: CredentialID, code: PresentedCode, origin: Origin = .unknown,
        recorder: Recorder<VerificationOutcome>? = nil
    ) async throws(VerifierError) -> VerificationOutcome {
        try await decide(origin, recorder: recorder) { context throws(VerifierError) in
            let record = try await record(credential)
            let attempt = CodeAttempt(
                code: code, purpose: .confirmation, counter: nil, hashes: [:], context: context)
            return try attempt.decide(
                record.map { [$0] } ?? [], subject: record?.subject, credential: credential)
        }
    }

    /// Finds an authenticator's clock or counter again, by two consecutive codes in a wide window
    /// (RFC 4226, section 7.4; RFC 6238, section 6).
    ///
    /// Failures count as those of single codes do. Who may ask for it is the application's to
    /// decide.
    public func resynchronize(
        _ credential: CredentialID, first: PresentedCode, second: PresentedCode,
        origin: Origin = .unknown, recorder: Recorder<VerificationOutcome>? = nil
    ) async throws(VerifierError) -> VerificationOutcome {
        try await decide(origin, recorder: recorder) { context throws(VerifierError) in
            let record = try await record(credential)
            // A recovery code is no code of a sequence: it finds nothing to be tried on.
            let isSequence = first.form == .oneTimePassword && second.form == .oneTimePassword
            let attempt = CodeAttempt(
                code: first, purpose: .resynchronization(next: second.characters), counter: nil,
                hashes: [:], context: context)
            return try attempt.decide(
                isSequence ? record.map { [$0] } ?? [] : [], subject: record?.subject,
                credential: credential)
        }
    }

    /// Hashes a recovery code with the salt of each set that it can be of, once; with some salt when
    /// there is none, for that must not be told by the time.
    private func hash(
        _ code: PresentedCode, for records: [CredentialRecord],
        into hashes: inout [[UInt8]: SecretBytes]
    ) async throws(VerifierError) {
        var sets: [(salt: [UInt8], logN: Int)] = records.compactMap { record in
            guard case .recovery(let set) = record.material else { return nil }
            return (set.salt, set.logN)
        }
        if sets.isEmpty {
            sets = [([UInt8](repeating: 0, count: RecoverySet.saltCount), RecoverySet.logN)]
        }
        for set in sets where hashes[set.salt] == nil {
            hashes[set.salt] = try await hashing.hash(
                code.characters, salt: set.salt, logN: set.logN, meter: meter)
        }
    }
}
