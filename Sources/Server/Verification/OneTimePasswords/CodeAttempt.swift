internal import OneTimePassword
internal import WatchwordCryptography

/// One code, or two consecutive codes, and the data needed to check them.
struct CodeAttempt: Sendable {
    /// The purpose for which a code is presented.
    enum Purpose: Sendable {
        /// Signing in.
        case verification
        /// Activating a pending credential.
        case confirmation
        /// Resynchronising the authenticator's counter or clock.
        ///
        /// `next` is the code that follows.
        case resynchronization(next: SecretBytes)
    }

    let code: PresentedCode
    let purpose: Purpose
    /// The counter of the code, according to the client.
    let counter: UInt64?
    /// The hashes of the code with the salt of each recovery set to try.
    let hashes: [[UInt8]: SecretBytes]
    /// The known device that presents the code; `nil` if the code comes from a stranger.
    var device: PresentedDevice?
    /// Whether an unknown device becomes a known device if the code is accepted.
    var remembersDevice = false
    let context: DecisionContext

    /// The token of a known device.
    struct PresentedDevice: Sendable {
        /// The keyed digest of the token.
        let digest: [UInt8]
        /// The credential that lists the device as known.
        let holder: CredentialRecord
    }

    /// Checks the code against one credential.
    ///
    /// After a match, `record` has spent the code.
    func check(_ record: inout CredentialRecord) throws(VerifierError) -> CodeMatch {
        switch record.material {
        case .time(var password):
            let generator = try generator(password.seed, record)
            let finding = code.characters.withBytes { code in
                switch purpose {
                case .resynchronization(let next):
                    next.withBytes { next in
                        password.resynchronize(
                            code, next, from: generator, at: context.now, meter: context.meter)
                    }
                case .verification, .confirmation:
                    password.take(
                        code, from: generator, at: context.now, profile: context.policy.profile,
                        meter: context.meter)
                }
            }
            record.material = .time(password)
            return finding
        case .counter(var password):
            let generator = try generator(password.seed, record)
            let finding = code.characters.withBytes { code in
                switch purpose {
                case .resynchronization(let next):
                    next.withBytes { next in
                        password.resynchronize(code, next, from: generator, meter: context.meter)
                    }
                case .verification, .confirmation:
                    password.take(
                        code, claiming: counter, from: generator,
                        lookAhead: context.policy.lookAhead, meter: context.meter)
                }
            }
            record.material = .counter(password)
            return finding
        case .recovery(let set):
            return try check(set, of: &record)
        case .secret, .pendingPasskey, .passkey, .pendingDeviceKey, .deviceKey, .none:
            throw .damagedRow
        }
    }

    private func generator(
        _ seed: SealedSeed, _ record: CredentialRecord
    ) throws(VerifierError) -> CodeGenerator {
        context.meter?.count(.openings)
        let key = try context.key(record.keyID)
        return try seed.generator(seed: try seed.open(for: record.place, under: key))
    }

    private func check(
        _ set: RecoverySet, of record: inout CredentialRecord
    ) throws(VerifierError) -> CodeMatch {
        guard let hash = hashes[set.salt] else { return .wrong }
        context.meter?.count(.openings)
        var hashes = try set.open(for: record.place, under: try context.key(record.keyID))
        // Compare the hash with all stored hashes, so that the time does not depend on the position
        // of the match.
        var found: Int?
        var isSpent = false
        for (index, stored) in hashes.left.enumerated() where stored == hash { found = index }
        for stored in hashes.spent where stored == hash { isSpent = true }
        guard !isSpent else { return .spent(further: false) }
        guard let found else { return .wrong }
        hashes.spent.append(hashes.left.remove(at: found))
        let key = context.keys.current
        let place = record.place
        let rest = RecoverySet(
            sealing: hashes, salt: set.salt, logN: set.logN, for: place, under: key)
        record.material = .recovery(rest)
        record.keyID = key.id
        return .right(offset: 0)
    }
}

extension CodeAttempt {
    /// The limits on guessing the codes of this credential.
    func limits(of record: CredentialRecord) -> GuessLimits {
        let policy = context.policy
        return switch record.material {
        case .time(let password):
            GuessLimits(
                policy, codes: policy.profile.codeCount, digits: password.seed.parameters.digits)
        case .counter(let password):
            GuessLimits(
                policy, codes: policy.lookAhead + 1, digits: password.seed.parameters.digits)
        case .recovery: GuessLimits(ofRecoveryCodes: policy)
        case .secret, .pendingPasskey, .passkey, .pendingDeviceKey, .deviceKey, .none:
            GuessLimits(policy)
        }
    }

    /// The number of codes that a check of this credential computes.
    func codeCount(of record: CredentialRecord) -> Int { codeCount(of: record.kind) }

    private func codeCount(of kind: CredentialKind) -> Int {
        switch (kind, purpose) {
        case (.totp, .resynchronization): 2 * (2 * Policy.maximumDrift + 1)
        case (.hotp, .resynchronization): 2 * resynchronizationCount
        case (.totp, _): context.policy.profile.codeCount
        case (.hotp, _): counter == nil ? counterCount : 1
        case (.recovery, _), (.secret, _), (.passkey, _), (.key, _): 0
        }
    }

    /// Does the remaining work of a complete check, so that unknown subjects, waits and all kinds
    /// of one-time passwords take the same time.
    ///
    /// - Returns: the body of the dummy row; `nil` for a recovery code or if a credential was
    ///   checked.
    func pad(beyond checked: [CredentialRecord]) throws(VerifierError) -> [UInt8]? {
        var done = checked.reduce(0) { $0 + codeCount(of: $1) }
        var dummyCredential: [UInt8]?
        if checked.isEmpty {
            switch code.form {
            case .oneTimePassword:
                dummyCredential = try context.keys.dummyCredential.refuse(self).body
                done = codeCount(of: .totp)
            case .recovery:
                context.meter?.count(.openings)
                let key = context.keys.current
                let nothing = [UInt8](repeating: 0, count: HashAlgorithm.sha1.digestCount)
                _ = key.sealing.seal(nothing.span, associatedData: nothing.span)
            }
        }
        guard code.form == .oneTimePassword, done < typicalCodeCount else { return dummyCredential }
        let generator = CodeGenerator(
            key: context.keys.current.pepper, algorithm: .sha1, style: .decimal(.six))
        code.characters.withBytes { code in
            for factor in done..<typicalCodeCount {
                context.meter?.count(.codes)
                _ = generator.match(code, around: UInt64(factor), behind: 0, ahead: 0)
            }
        }
        return dummyCredential
    }

    /// The number of codes in the widest window.
    private var typicalCodeCount: Int {
        switch purpose {
        case .resynchronization: 2 * resynchronizationCount
        case .verification, .confirmation:
            max(counterCount, context.policy.profile.codeCount)
        }
    }

    /// The counters that are tried for one HOTP code: the look-ahead, and the last spent counters.
    private var counterCount: Int { Policy.recognizedCounters + context.policy.lookAhead + 1 }

    private var resynchronizationCount: Int {
        Policy.recognizedCounters + Policy.resynchronizationCounters + 1
    }
}
