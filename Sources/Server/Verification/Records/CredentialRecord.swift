/// A credential's row with its body decoded: what decisions read and change.
package struct CredentialRecord: Sendable {
    package let id: CredentialID
    package let subject: Subject
    package let kind: CredentialKind
    package let createdAt: UnixTime
    package var origin: Origin
    /// The stored version.
    ///
    /// The row made from this record has the next one.
    package var version: UInt64 = 0
    package var state: CredentialState
    package var keyID: KeyID?
    package var fingerprint: [UInt8]?
    package var lapsesAt: UnixTime?
    package var name: String
    /// The client that enrolled it; `nil` if there was none, or if an older version wrote the row.
    package var enroller: ClientID?
    /// The clients that may redeem its logins; empty if the verifier is used without clients.
    var audience: [ClientID] = []
    package var confirmedAt: UnixTime?
    package var lastUsedAt: UnixTime?
    var endedAt: UnixTime?
    var endReason: Event.Reason?
    var throttle = Throttle()
    /// The devices from which its codes are not delayed by the failures of strangers.
    var devices = KnownDevices()
    package var material: Material

    /// The data that codes and secrets are checked against.
    package enum Material: Sendable {
        case time(TOTPState)
        case counter(HOTPState)
        case recovery(RecoverySet)
        case secret(SecretChain)
        case pendingPasskey(PendingPasskey)
        case passkey(PasskeyState)
        case pendingDeviceKey(PendingDeviceKey)
        case deviceKey(DeviceKeyState)
        /// Nothing yet, or deleted.
        case none
    }

    /// Whether it was not confirmed in time.
    package func isLapsed(at now: UnixTime) -> Bool {
        state == .pending && lapsesAt.map { $0 <= now } ?? false
    }

    /// Ends the credential and deletes its material, except for a confirmed device key: it is
    /// public, and its holder uses it to prove that it may learn that the credential has ended.
    ///
    /// If it was never confirmed, its key can be enrolled again. If it is a set of recovery codes,
    /// a new set can be enrolled. The row of neither proves anything, so it may be pruned later.
    package mutating func end(
        as state: CredentialState, because reason: Event.Reason, at now: UnixTime
    ) {
        lapsesAt = nil
        if confirmedAt == nil || kind == .recovery {
            fingerprint = nil
            lapsesAt = now.adding(
                milliseconds: confirmedAt == nil ? Policy.answerLifetime : Policy.endedSetLifetime)
        }
        self.state = state
        devices = KnownDevices()
        let keepsKey = kind == .key && confirmedAt != nil
        if !keepsKey {
            material = .none
            keyID = nil
        }
        endedAt = now
        endReason = reason
    }

    /// The changes to store after ``end(as:because:at:)``.
    ///
    /// They delete everything that could still be redeemed or read.
    package var changesAtEnd: [StoreChange] {
        [.updateCredential(row), .dropTickets(of: id), .endAnswers(of: id)]
    }

    /// Whether its codes are one-time passwords.
    var isOneTimePassword: Bool { kind == .totp || kind == .hotp }

    /// Whether its key has fewer than 128 bits, as only imported keys may have.
    var hasShortKey: Bool {
        switch material {
        case .time(let password): password.seed.isShort
        case .counter(let password): password.seed.isShort
        case .recovery, .secret, .pendingPasskey, .passkey, .pendingDeviceKey, .deviceKey, .none:
            false
        }
    }

    /// The facts about it that are not secret.
    ///
    /// - Parameter keys: open the sealed part of a passkey.
    func summary(at now: UnixTime, keys: KeyRing) throws(VerifierError) -> CredentialSummary {
        var remaining: Int?
        if case .recovery(let set) = material { remaining = set.remaining }
        var passkey: PasskeySummary?
        if case .passkey(let state) = material {
            guard let keyID else { throw .damagedRow }
            guard let key = keys.version(keyID) else { throw .keyMissing(keyID) }
            passkey = state.summary(of: try state.open(for: place, under: key))
        }
        return CredentialSummary(
            id: id, subject: subject, kind: kind, state: isLapsed(at: now) ? .revoked : state,
            name: name, createdAt: createdAt, lapsesAt: state == .pending ? lapsesAt : nil,
            confirmedAt: confirmedAt,
            lastUsedAt: lastUsedAt, endedAt: endedAt, endReason: endReason, origin: origin,
            failures: throttle.failures, waitsUntil: throttle.waitsUntil, remaining: remaining,
            hasShortKey: hasShortKey, passkey: passkey)
    }
}
