internal import WatchwordCryptography

/// A code to be verified, and the client's claims about it.
public struct VerificationRequest: Sendable {
    /// The well-formed code.
    public let code: PresentedCode
    /// The subject whose code this is, according to the client.
    public let subject: Subject
    /// The only credential to check; `nil` checks all active credentials.
    public var credential: CredentialID?
    /// The counter that the client claims for an HOTP code (RFC 4226, appendix E.4).
    public var counter: UInt64?
    /// The token of a known device, from an earlier ``VerificationOutcome/device``.
    ///
    /// The failures of strangers do not make this device wait. Any other token is ignored.
    public var device: Token?
    /// Whether the device becomes known if the code is accepted.
    public var remembersDevice = false

    /// Takes the code and the subject; all active credentials are checked.
    public init(_ code: PresentedCode, of subject: Subject) {
        self.code = code
        self.subject = subject
    }
}

extension Verifier {
    /// Verifies a code against a subject's credentials, and spends it.
    ///
    /// A wrong code counts against every credential for which it was checked. A success resets the
    /// failures of its credential. An attempt on an unknown subject does the same work.
    public func verify(
        _ request: VerificationRequest, origin: Origin = .unknown,
        recorder: Recorder<VerificationOutcome>? = nil
    ) async throws(VerifierError) -> VerificationOutcome {
        let (code, credential) = (request.code, request.credential)
        var hashes: [[UInt8]: SecretBytes] = [:]
        return try await decide(origin, recorder: recorder, answeringUntil: .end) {
            context throws(VerifierError) in
            var records = try await records(of: request.subject)
            let presented = known(request.device, among: records, context)
            if let credential { records.removeAll { $0.id != credential } }
            if code.form == .recovery {
                try await hash(code, for: records, origin.client, into: &hashes)
            }
            let attempt = CodeAttempt(
                code: code, purpose: .verification, counter: request.counter, hashes: hashes,
                device: presented, remembersDevice: request.remembersDevice, context: context)
            return try attempt.decide(records, subject: request.subject, credential: credential)
        }
    }

    /// Verifies a code against all active credentials of a subject, and spends it.
    public func verify(
        _ code: PresentedCode, subject: Subject, origin: Origin = .unknown,
        recorder: Recorder<VerificationOutcome>? = nil
    ) async throws(VerifierError) -> VerificationOutcome {
        try await verify(
            VerificationRequest(code, of: subject), origin: origin, recorder: recorder)
    }

    /// The device that presents this token, if one of the subject's active credentials lists it.
    private func known(
        _ device: Token?, among records: [CredentialRecord], _ context: DecisionContext
    ) -> CodeAttempt.PresentedDevice? {
        guard let device else { return nil }
        let digest = digest(device, context)
        let holder = records.first { $0.state == .active && $0.devices.contain(digest) }
        return holder.map { CodeAttempt.PresentedDevice(digest: digest, holder: $0) }
    }

    /// Confirms a pending credential with its first code, which is spent.
    ///
    /// A credential that is already active or has expired counts as unknown.
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

    /// Resynchronises an authenticator's clock or counter with two consecutive codes in a wide
    /// window (RFC 4226, section 7.4; RFC 6238, section 6).
    ///
    /// Failures count like those of single codes. The application decides who may request this.
    public func resynchronize(
        _ credential: CredentialID, first: PresentedCode, second: PresentedCode,
        origin: Origin = .unknown, recorder: Recorder<VerificationOutcome>? = nil
    ) async throws(VerifierError) -> VerificationOutcome {
        try await decide(origin, recorder: recorder) { context throws(VerifierError) in
            let record = try await record(credential)
            // A recovery code is not part of a sequence, so no credential is checked.
            let isSequence = first.form == .oneTimePassword && second.form == .oneTimePassword
            let attempt = CodeAttempt(
                code: first, purpose: .resynchronization(next: second.characters), counter: nil,
                hashes: [:], context: context)
            return try attempt.decide(
                isSequence ? record.map { [$0] } ?? [] : [], subject: record?.subject,
                credential: credential)
        }
    }

    /// Hashes a recovery code once with the salt of each possible set.
    ///
    /// If there is no set, a dummy salt is used, so that the response time does not reveal this.
    private func hash(
        _ code: PresentedCode, for records: [CredentialRecord], _ client: ClientID?,
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
                code.characters, salt: set.salt, logN: set.logN, for: client, meter: meter)
        }
    }
}
