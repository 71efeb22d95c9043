internal import OneTimePassword
internal import WatchwordCryptography

extension Verifier {
    /// Issues a key for one-time passwords, either generated or given.
    ///
    /// A first code must confirm the key within ten minutes (``confirm(_:code:origin:recorder:)``).
    public func enrolOneTimePassword(
        _ enrolment: OneTimePasswordEnrolment, for subject: Subject, origin: Origin = .unknown,
        recorder: Recorder<EnrolmentOutcome<OneTimePasswordGrant>>? = nil
    ) async throws(VerifierError) -> EnrolmentOutcome<OneTimePasswordGrant> {
        try await decide(origin, recorder: recorder) { context throws(VerifierError) in
            let seed = seed(for: enrolment, context)
            switch try await start(enrolment, seed, for: subject, context) {
            case nil: return nil
            case .refused(let refusal)?: return Decision(outcome: .refused(refusal), changes: [])
            case .granted(let started)?:
                let grant = OneTimePasswordGrant(
                    credential: started.record.id, uri: uri(enrolment, seed),
                    expiresAt: context.now.adding(milliseconds: Policy.enrolmentLifetime))
                return Decision(
                    outcome: .granted(grant), changes: started.changes,
                    secretsOf: started.record.id)
            }
        }
    }

    /// Issues ten recovery codes, which are active at once.
    ///
    /// An earlier set is revoked.
    ///
    /// - Parameter canManage: whether the client may also replace another client's set.
    public func enrolRecoveryCodes(
        for subject: Subject, name: String = "", canManage: Bool = false,
        origin: Origin = .unknown,
        recorder: Recorder<EnrolmentOutcome<RecoveryGrant>>? = nil
    ) async throws(VerifierError) -> EnrolmentOutcome<RecoveryGrant> {
        try await decide(origin, recorder: recorder, answeringUntil: .use) {
            context throws(VerifierError) in
            let records = try await records(of: subject)
            let earlier = records.filter { $0.kind == .recovery }
            // Sets from older versions have no record of their client.
            let isForeign = earlier.contains {
                $0.enroller != nil && $0.enroller != origin.client
            }
            guard canManage || !isForeign else {
                return Decision(outcome: .refused(.foreignCredential), changes: [])
            }
            let room = makingRoom(
                for: subject, among: records.filter { $0.kind != .recovery }, context)
            guard let room else { return Decision(outcome: .refused(.tooMany), changes: []) }
            let salt = context.randomBytes(RecoverySet.saltCount)
            var codes: [SecretBytes] = []
            var hashes: [SecretBytes] = []
            for _ in 0..<RecoveryCode.codesPerSet {
                let code = RecoveryCode.make(context.randomness)
                codes.append(code)
                hashes.append(
                    try await hashing.hash(
                        code, salt: salt, logN: RecoverySet.logN, for: origin.client,
                        meter: meter))
            }
            var record = newRecord(.recovery, subject, name: name, state: .active, context)
            let place = record.place
            let set = RecoverySet(
                sealing: RecoverySet.Hashes(left: hashes), salt: salt,
                logN: RecoverySet.logN, for: place, under: context.keys.current)
            record.material = .recovery(set)
            record.keyID = context.keys.current.id
            record.confirmedAt = context.now
            // If two sets are enrolled concurrently, the unique fingerprint makes one enrolment
            // start again and replace the other enrolment's set.
            record.fingerprint = context.keys.lookup.fingerprint(ofSetFor: subject)
            var changes: [StoreChange] = []
            for var old in earlier {
                old.end(as: .revoked, because: .replaced, at: context.now)
                changes += old.changesAtEnd + [context.event(.revoked, .replaced, of: old)]
            }
            changes += room
            changes.append(.insertCredential(record.row))
            changes.append(context.event(.enrolled, of: record))
            let grant = RecoveryGrant(credential: record.id, codes: codes)
            return Decision(outcome: .granted(grant), changes: changes, secretsOf: record.id)
        }
    }

    func seed(for enrolment: OneTimePasswordEnrolment, _ context: DecisionContext) -> SecretBytes {
        if let key = enrolment.key { return key }
        // The key has the length of the hash (RFC 6238, section 5.1), which is at least 160 bits
        // (RFC 4226, section 4, R6).
        return context.randomSecret(enrolment.algorithm.digestCount)
    }

    /// Makes a credential with this key, which a first code must confirm; returns `nil` to start
    /// again.
    func start(
        _ enrolment: OneTimePasswordEnrolment, _ seed: SecretBytes, for subject: Subject,
        _ context: DecisionContext
    ) async throws(VerifierError) -> EnrolmentOutcome<StartedEnrolment>? {
        let fingerprints = fingerprints(of: seed, enrolment.algorithm, context)
        switch try await keyState(fingerprints, context) {
        case .free: break
        case .inUse: return .refused(.keyInUse)
        case .released: return nil
        }
        let room = makingRoom(for: subject, among: try await records(of: subject), context)
        guard let room else { return .refused(.tooMany) }
        var record = newRecord(
            enrolment.factor.kind, subject, name: enrolment.name, state: .pending, context)
        record.fingerprint = fingerprints[0]
        record.keyID = context.keys.current.id
        record.material = enrolment.factor.material(
            SealedSeed(
                sealing: seed, enrolment.parameters, for: record.place,
                under: context.keys.current))
        return .granted(
            StartedEnrolment(
                record: record,
                changes: room + [
                    .insertCredential(record.row), context.event(.enrolmentStarted, of: record),
                ]))
    }

    /// The indexes under which a key is found, beginning with the index to store.
    func fingerprints(
        of seed: SecretBytes, _ algorithm: HashAlgorithm, _ context: DecisionContext
    ) -> [[UInt8]] {
        context.keys.lookup.fingerprints(of: seed, first: algorithm)
    }

    enum KeyState {
        case free
        /// A credential that has or had the key.
        case inUse(CredentialRecord)
        /// An expired enrolment used the key; it has now been revoked.
        case released
    }

    /// Whether a credential already has the key (RFC 6238, section 3, R5).
    func keyState(
        _ fingerprints: [[UInt8]], _ context: DecisionContext
    ) async throws(VerifierError) -> KeyState {
        for fingerprint in fingerprints {
            guard var record = try await record(fingerprint: fingerprint) else { continue }
            guard record.isLapsed(at: context.now) else { return .inUse(record) }
            record.end(as: .revoked, because: .lapsed, at: context.now)
            _ = try await commit(
                record.changesAtEnd + [context.event(.revoked, .lapsed, of: record)])
            return .released
        }
        return .free
    }

    /// The credential that has or had a key.
    package func record(fingerprint: [UInt8]) async throws(VerifierError) -> CredentialRecord? {
        let row = try await VerifierError.store(
            in: await store.credential(fingerprint: fingerprint))
        guard let row else { return nil }
        return try CredentialRecord(row)
    }

    /// The changes that make room for a further credential of the subject; `nil` if there is no
    /// room.
    ///
    /// At the limit, the oldest unfinished registration ends, so that abandoned ones do not block
    /// the subject. Expired registrations count until they are pruned, so that they cannot fill a
    /// subject's list. The last change checks the limit in the commit, against concurrent
    /// enrolments.
    ///
    /// - Parameter records: the subject's credentials that are not revoked, oldest first.
    package func makingRoom(
        for subject: Subject, among records: [CredentialRecord], _ context: DecisionContext
    ) -> [StoreChange]? {
        var changes: [StoreChange] = []
        // An earlier policy may have permitted more credentials.
        let excess = max(records.count - policy.maximumCredentials + 1, 0)
        let ending = records.filter { $0.state == .pending }.prefix(excess)
        guard ending.count == excess else { return nil }
        for var record in ending {
            record.end(as: .revoked, because: .replaced, at: context.now)
            changes += record.changesAtEnd + [context.event(.revoked, .replaced, of: record)]
        }
        return changes + [.requireCapacity(for: subject, limit: policy.maximumCredentials)]
    }

    package func newRecord(
        _ kind: CredentialKind, _ subject: Subject, name: String, state: CredentialState,
        _ context: DecisionContext
    ) -> CredentialRecord {
        guard let id = CredentialID(bytes: context.randomBytes(CredentialID.count)) else {
            preconditionFailure("a random source must return the requested number of bytes")
        }
        let lapsesAt =
            state == .pending
            ? context.now.adding(milliseconds: Policy.enrolmentLifetime) : nil
        return CredentialRecord(
            id: id, subject: subject, kind: kind, createdAt: context.now, origin: context.origin,
            state: state, lapsesAt: lapsesAt,
            name: name.prefix(bytes: OneTimePasswordEnrolment.maximumTextCount),
            enroller: context.origin.client, material: .none)
    }

    /// The key URI for the user's authenticator.
    func uri(
        _ enrolment: OneTimePasswordEnrolment, _ seed: SecretBytes
    ) -> SecretBytes {
        let factor: MovingFactor? =
            switch enrolment.factor {
            case .time(let period): TimeStep(period: Int64(period)).map(MovingFactor.time)
            case .counter(let counter): .counter(counter)
            }
        guard let factor, let length = CodeLength(digits: enrolment.digits) else {
            preconditionFailure("the initialiser has checked the period and the digits")
        }
        do {
            return KeyURI.format(
                try Credential(
                    issuer: enrolment.issuer, account: enrolment.account, key: seed,
                    algorithm: enrolment.algorithm, style: .decimal(length), movingFactor: factor))
        } catch {
            preconditionFailure("the initialiser has checked the names and the key")
        }
    }
}

/// A new credential that a first code must confirm.
struct StartedEnrolment: Sendable {
    let record: CredentialRecord
    /// The changes that store the credential.
    let changes: [StoreChange]
}

extension OneTimePasswordEnrolment.Factor {
    var kind: CredentialKind {
        switch self {
        case .time: .totp
        case .counter: .hotp
        }
    }

    /// The time step in seconds; `nil` for HOTP.
    var period: Int? {
        switch self {
        case .time(let period): period
        case .counter: nil
        }
    }

    /// The material that a new credential stores.
    func material(_ seed: SealedSeed) -> CredentialRecord.Material {
        switch self {
        case .time: .time(TOTPState(seed: seed))
        case .counter(let counter): .counter(HOTPState(seed: seed, counter: counter))
        }
    }
}

extension OneTimePasswordEnrolment {
    fileprivate var parameters: SealedSeed.Parameters {
        SealedSeed.Parameters(algorithm: algorithm, digits: digits, period: factor.period)
    }
}

// The parts that registrations of passkeys and of device keys share.

extension Verifier {
    /// Why the subject's credential with this id cannot be replaced; `nil` if it can be replaced.
    ///
    /// - Parameter canManage: whether the client may revoke every credential.
    package func refusal(
        replacing id: CredentialID?, among records: [CredentialRecord], _ canManage: Bool,
        _ context: DecisionContext
    ) -> EnrolmentRefusal? {
        guard let id else { return nil }
        guard let old = records.first(where: { $0.id == id }) else { return .unknownCredential }
        // A pending credential can end at any time, and its row can be used for the next one.
        guard old.state != .pending else { return .pendingCredential }
        return old.isReplaceable(by: context, canManage) ? nil : .foreignCredential
    }

    /// The changes that revoke a credential that is being replaced.
    package func replacing(
        _ id: CredentialID?, _ context: DecisionContext
    ) async throws(VerifierError) -> [StoreChange] {
        guard let id, var old = try await record(id), old.state != .revoked else { return [] }
        old.end(as: .revoked, because: .replaced, at: context.now)
        return old.changesAtEnd + [context.event(.revoked, .replaced, of: old)]
    }
}

extension CredentialRecord {
    /// Whether the client that enrols a new credential may replace this credential.
    func isReplaceable(by context: DecisionContext, _ canManage: Bool) -> Bool {
        canManage || state == .active && enroller == context.origin.client
    }

    /// The pending credential after its confirmation, without its material.
    ///
    /// - Parameter origin: the origin of its browser or device.
    package func confirmed(
        name: String?, from origin: Origin, _ context: DecisionContext
    ) -> CredentialRecord {
        var record = self
        record.origin = origin
        record.state = .active
        record.keyID = context.keys.current.id
        record.lapsesAt = nil
        record.name = (name ?? self.name).prefix(
            bytes: OneTimePasswordEnrolment.maximumTextCount)
        record.confirmedAt = context.now
        record.material = .none
        return record
    }

    /// The record with the id of `other`, as the next version of that record.
    package func taking(rowOf other: CredentialRecord) -> CredentialRecord {
        var record = self
        record.id = other.id
        record.version = other.version
        return record
    }
}
