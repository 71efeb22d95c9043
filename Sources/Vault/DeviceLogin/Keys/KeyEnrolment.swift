package import Courier
internal import Devices
package import SecretVault
package import WatchwordCryptography
internal import WatchwordSystem

/// The enrolment of a device key: makes a key, stores it, and registers it with a ticket.
///
/// The key and the request are stored before the request is sent. A key that the server registered
/// earlier, or an enrolled secret, is kept, and can be used, until the server has registered the
/// new key; then it is purged in the save that stores the response. A run that was killed is
/// repeated with the same ticket: it sends the stored request again. A run with a different ticket
/// also sends that request first: if the device dropped a key that the server has registered, the
/// key would stay active, although its private half is lost.
package struct KeyEnrolment: Sendable {
    let order: KeyOrder
    /// The TPM that the order names.
    let tpm: TPMAccess?
    private let presence: @Sendable (AccessControl) -> DeviceKeyTranscript.Presence

    /// The key that results from an enrolment.
    package enum Outcome: Sendable {
        /// The key was registered with the ticket.
        case registered(EnrolledKey)
        /// The key was made by an earlier run and registered with that run's ticket. The key is in
        /// use now, and this ticket was not sent.
        case adopted(EnrolledKey)
    }

    /// Describes an enrolment.
    ///
    /// - Parameters:
    ///   - order: the ticket, the server, the names and the access control, and where the key is
    ///     made.
    ///   - tpm: the TPM that the order names.
    ///   - presence: returns the kind of presence check for an access control.
    package init(
        _ order: KeyOrder, tpm: TPMAccess?,
        presence: @escaping @Sendable (AccessControl) -> DeviceKeyTranscript.Presence
    ) {
        precondition(order.enrolment.isWithinLimits, "the caller enforces the limits")
        self.order = order
        self.tpm = tpm
        self.presence = presence
    }

    var enrolment: Enrolment { order.enrolment }

    /// The access control of a new device key: a check at each use, and a wipe after three
    /// failures.
    package static let standardAccess = AccessControl(
        presence: .perUse(.any), onFailure: AccessControl.standard(for: .enrolled).onFailure)

    /// The access control of the new key.
    ///
    /// - Parameter earlier: the content of the earlier enrolments under this name.
    package func access(
        replacing earlier: [RecordID: EntryContent], in vault: UnlockedVault
    ) -> AccessControl {
        let entries = vault.entries.filter { $0.kind == .enrolled && enrolment.replaces($0) }
        return enrolment.access.applied(to: KeyEnrolment.access(replacing: entries, earlier))
    }

    /// The initial access control: that of an earlier key.
    ///
    /// The access control of an enrolled secret may be too weak for a key, and a wiped entry may
    /// have been either.
    private static func access(
        replacing entries: [EntrySummary], _ contents: [RecordID: EntryContent]
    ) -> AccessControl {
        guard let last = entries.last else { return standardAccess }
        let isKey = contents[last.id].map { Incumbent($0)?.isKey ?? false } ?? false
        return isKey ? last.accessControl : last.accessControl.atLeast(standardAccess)
    }

    /// Registers a key.
    ///
    /// - Parameters:
    ///   - earlier: the content of the earlier enrolments under this name; without it, an enrolment
    ///     that requires a check at each use is not replaced.
    ///   - turn: proves that no other process uses the key.
    ///   - sender: sends requests to the server.
    ///   - now: Unix seconds.
    /// - Throws: ``DeviceLoginError``. After an error, a run with the same ticket continues; after
    ///   a refusal by the vault or the server, it starts again. After
    ///   ``DeviceLoginError/adoptedElsewhere``, the key of an earlier run is in use.
    package func register(
        replacing earlier: [RecordID: EntryContent], in vault: UnlockedVault,
        turn: borrowing LoginLock, over sender: inout some RequestSender, now: Int64
    ) throws(DeviceLoginError) -> Outcome {
        guard Enrolment.isTicket(enrolment.ticket) else { throw .badTicket }
        let pending: Pending
        if let stored = KeyEnrolment.stored(for: enrolment, in: earlier) {
            guard stored.key.isAs(order) else { throw .otherPlace }
            pending = stored
        } else {
            if let other = KeyEnrolment.unanswered(for: enrolment, in: earlier),
                let key = try registeredEarlier(other.key, over: &sender, now: now)
            {
                try keep(key, in: other, replacing: earlier, in: vault, now: now)
                guard key.isAs(order) else { throw .adoptedElsewhere }
                return .adopted(key)
            }
            pending = try make(replacing: earlier, in: vault, now: now)
        }
        let key = pending.key
        // An earlier run registered the key, but ended before it could report this.
        guard key.credential == nil else { return .registered(key) }
        let registered: EnrolledKey
        switch try EnrolledLogin.send(request(key), over: &sender) {
        case .registered(let credential, let custody):
            registered = key.registered(as: credential, custody, now: now)
        case .keyToActivate(let credential, let activation):
            try activate(key, as: credential, activation, over: &sender)
            registered = key.registered(as: credential, isAttested: true, now: now)
        case .problem(let problem):
            if problem.isFinal { try drop(pending, in: vault) }
            throw .problem(problem, at: key.server.address)
        default: throw .unexpectedResponse
        }
        try keep(registered, in: pending, replacing: earlier, in: vault, now: now)
        return .registered(registered)
    }

    /// Stores a registered key in place of the enrolments that it replaces.
    private func keep(
        _ key: EnrolledKey, in pending: Pending, replacing earlier: [RecordID: EntryContent],
        in vault: UnlockedVault, now: Int64
    ) throws(DeviceLoginError) {
        if pending.current == nil {
            try VaultEntry(id: pending.id, vault: vault).keep(key.form())
        } else {
            _ = try put(key, replacing: earlier, in: vault, now: now)
        }
    }

    /// Deletes a key that the server will not register.
    private func drop(_ pending: Pending, in vault: UnlockedVault) throws(DeviceLoginError) {
        if let current = pending.current {
            let entry = VaultEntry(id: pending.id, vault: vault)
            return try entry.keep(current.form(waitingFor: nil))
        }
        try DeviceLoginError.vault(
            in: vault.update { changes throws(VaultError) in
                try changes.erase(pending.id)
            })
    }

    /// Stores a key in place of earlier enrolments.
    private func put(
        _ key: EnrolledKey, replacing earlier: [RecordID: EntryContent], in vault: UnlockedVault,
        now: Int64
    ) throws(DeviceLoginError) -> RecordID {
        try DeviceLoginError.vault(
            in: vault.update { changes throws(VaultError) in
                let id = try enrolment.put(
                    key.form(), into: &changes, now: now, confirmed: Set(earlier.keys)
                ) { KeyEnrolment.access(replacing: $0, earlier) }
                try enrolment.secure(id)
                return id
            })
    }

    /// Makes a key, signs its registration, and stores both: beside an enrolment that can be used,
    /// or else in place of earlier ones.
    private func make(
        replacing earlier: [RecordID: EntryContent], in vault: UnlockedVault, now: Int64
    ) throws(DeviceLoginError) -> Pending {
        let presence = presence(access(replacing: earlier, in: vault))
        let signer = try makeSigner()
        var person = KnownPIN(value: order.pin)
        let scope = try enrolment.server.address.scope(presence)
        let transcript = DeviceKeyTranscript.enrolment(
            scope, ticket: enrolment.ticket, point: signer.point)
        let signature = try signer.sign(transcript, asking: &person)
        let attestation =
            order.attests ? try signer.attestation(for: transcript, asking: &person) : nil
        let key = EnrolledKey(
            server: enrolment.server, credential: nil, changed: now, point: signer.point,
            ticketDigest: enrolment.ticketDigest, holding: signer.holding,
            registration: HelperRequest.KeyRegistration(
                ticket: enrolment.ticket, presence: presence, deviceName: enrolment.deviceName,
                signature: signature, attestation: attestation))
        guard let (id, current) = KeyEnrolment.usable(in: earlier) else {
            let id = try put(key, replacing: earlier, in: vault, now: now)
            return Pending(id: id, key: key, current: nil)
        }
        try VaultEntry(id: id, vault: vault).keep(current.form(waitingFor: key.form()))
        return Pending(id: id, key: key, current: current)
    }
}

extension KeyEnrolment {
    /// Makes a key in the place that the order specifies.
    private func makeSigner() throws(DeviceLoginError) -> any TranscriptSigner {
        switch (order.place, tpm) {
        case (.vault, _): return try SoftwareSigner.make()
        case (.tpm, let tpm?): return try TPMSigner.make(in: tpm, pin: order.pin)
        case (.tpmOrVault, let tpm?):
            do throws(DeviceLoginError) {
                return try TPMSigner.make(in: tpm, pin: nil)
            } catch .token(.noDevice), .token(.noPermission), .token(.helper(.notFound)) {
                return try SoftwareSigner.make()
            }
        case (.tpm, nil), (.tpmOrVault, nil):
            preconditionFailure("the caller gives access to the TPM that the order names")
        }
    }
}

extension Enrolment {
    /// The digest by which a repeated run recognises the key of an earlier run.
    var ticketDigest: [UInt8] { ticket.withBytes { sha256($0) } }
}

extension EnrolledKey {
    /// Whether the key is in the place where a new key would be made.
    fileprivate func isAs(_ order: KeyOrder) -> Bool {
        switch order.place {
        case .tpmOrVault: true
        case .vault: !holding.isInTPM
        case .tpm(_, _, let attests):
            // No PIN is needed once the key has been made.
            holding.isInTPM && (order.pin == nil || holding.requiresPIN)
                && (!attests || isAttested || registration?.attestation != nil)
        }
    }
}
