public import Courier
public import Cryptography
internal import HardwareTokens
public import SecretVault

/// The enrolment of a device key: makes a key, stores it, and registers it with a ticket.
///
/// The key and the request are stored before the request is sent, and in the same save, earlier
/// enrolments under the name are purged. A run that was killed is repeated with the same ticket: it
/// sends the stored request again.
public struct KeyEnrolment: Sendable {
    private let order: Enrolment
    private let place: KeyPlace
    private let presence: @Sendable (AccessControl) -> DeviceKeyTranscript.Presence

    /// Describes an enrolment.
    ///
    /// - Parameters:
    ///   - enrolment: the server, the names and the access control.
    ///   - place: where the key is made.
    ///   - presence: how the presence of somebody is checked with this access control.
    public init(
        _ enrolment: Enrolment, in place: KeyPlace,
        presence: @escaping @Sendable (AccessControl) -> DeviceKeyTranscript.Presence
    ) {
        order = enrolment
        self.place = place
        self.presence = presence
    }

    /// The access control of a new device key: a check at each use, and a wipe after three
    /// failures.
    public static let standardAccess = AccessControl(
        presence: .perUse(.any), onFailure: AccessControl.standard(for: .enrolled).onFailure)

    /// Registers a key.
    ///
    /// - Parameters:
    ///   - ticket: the enrolment ticket.
    ///   - isEarlier: whether an entry is an earlier enrolment under this name.
    ///   - earlier: the content of these entries; without it, one that requires a check at each
    ///     use is not replaced.
    ///   - turn: proves that no other process uses the key.
    ///   - sender: sends requests to the server.
    ///   - now: Unix seconds.
    /// - Throws: ``DeviceLoginError``. After every error but a refusal by the vault, a run with the
    ///   same ticket continues.
    public func register(
        with ticket: SecretBytes, replacing earlier: [RecordID: EntryContent],
        in vault: UnlockedVault, turn: borrowing LoginLock,
        over sender: inout some RequestSender, now: Int64, isEarlier: (EntrySummary) -> Bool
    ) throws(DeviceLoginError) -> EnrolledKey {
        guard Token.isToken(ticket) else { throw .badTicket }
        let digest = try KeyEnrolment.digest(of: ticket)
        let (id, key): (RecordID, EnrolledKey)
        if let stored = KeyEnrolment.stored(earlier, digest, for: order) {
            (id, key) = stored
        } else {
            (id, key) = try make(ticket, digest, replacing: earlier, in: vault, now, isEarlier)
        }
        // An earlier run was only prevented from saying so.
        guard key.credential == nil else { return key }
        let registered: EnrolledKey
        switch try EnrolledLogin.send(request(key), over: &sender) {
        case .registered(let credential, _):
            registered = key.registered(as: credential, isAttested: false, now: now)
        case .keyToActivate(let credential, let activation):
            try activate(key, as: credential, activation, over: &sender)
            registered = key.registered(as: credential, isAttested: true, now: now)
        case .problem(let problem): throw .problem(problem)
        default: throw .unexpectedResponse
        }
        try VaultEntry(id: id, vault: vault).keep(registered.form())
        return registered
    }

    /// Lets the TPM reveal the secret with which the server completes the registration.
    ///
    /// A repeated run gets the same response to its registration, and sends the same secret again.
    private func activate(
        _ key: EnrolledKey, as credential: Token, _ activation: HelperResponse.KeyActivation,
        over sender: inout some RequestSender
    ) throws(DeviceLoginError) {
        guard let saved = key.registration, saved.attestation != nil else {
            throw .unexpectedResponse
        }
        guard let address = place.address else { throw .token(.refused(.noDevice)) }
        let secret = try TPMSigner.secret(protectedBy: activation, in: address)
        let request = HelperRequest(
            server: key.server, authorities: key.authorities,
            idempotencyKey: try EnrolledLogin.key(
                of: "watchword key activation", saved.ticket, key.point),
            operation: .keyActivation(credential: credential, secret: secret))
        switch try EnrolledLogin.send(request, over: &sender) {
        case .keyActivated: return
        case .denied: throw .denied
        case .problem(let problem): throw .problem(problem)
        default: throw .unexpectedResponse
        }
    }

    /// Whether an earlier run with this ticket has already made the key.
    public static func isMade(
        _ enrolment: Enrolment, with ticket: SecretBytes, in earlier: [RecordID: EntryContent]
    ) throws(DeviceLoginError) -> Bool {
        stored(earlier, try digest(of: ticket), for: enrolment) != nil
    }

    private static func digest(of ticket: SecretBytes) throws(DeviceLoginError) -> [UInt8] {
        do throws(CryptographyFailure) {
            return try ticket.withBytes { text throws(CryptographyFailure) in try sha256(text) }
        } catch {
            throw .cryptography(error)
        }
    }

    /// The key that an earlier run with this ticket has stored.
    private static func stored(
        _ earlier: [RecordID: EntryContent], _ ticketDigest: [UInt8], for order: Enrolment
    ) -> (RecordID, EnrolledKey)? {
        for (id, content) in earlier {
            let key: EnrolledKey
            // Anything else is replaced.
            do throws(DeviceLoginError) { key = try EnrolledKey(content) } catch { continue }
            if key.server == order.server, key.ticketDigest == ticketDigest { return (id, key) }
        }
        return nil
    }

    /// Makes a key, signs its registration, and stores both in the place of earlier enrolments.
    private func make(
        _ ticket: SecretBytes, _ ticketDigest: [UInt8],
        replacing earlier: [RecordID: EntryContent], in vault: UnlockedVault, _ now: Int64,
        _ isEarlier: (EntrySummary) -> Bool
    ) throws(DeviceLoginError) -> (RecordID, EnrolledKey) {
        let old = vault.entries.last { $0.kind == .enrolled && isEarlier($0) }
        let presence = presence(
            order.accessControl(old?.accessControl ?? KeyEnrolment.standardAccess))
        let signer = try place.makeSigner()
        var person = KnownPIN(value: place.pin)
        let scope = try order.server.scope(presence)
        let transcript: DeviceKeyTranscript
        do {
            transcript = try DeviceKeyTranscript.enrolment(
                scope, ticket: ticket, point: signer.point)
        } catch {
            throw .cryptography(error)
        }
        let signature = try signer.sign(transcript, asking: &person)
        let attestation =
            place.attests ? try signer.attestation(for: transcript, asking: &person) : nil
        let key = EnrolledKey(
            server: order.server, authorities: order.authorities, credential: nil, changed: now,
            point: signer.point, ticketDigest: ticketDigest, holding: signer.holding,
            registration: EnrolledKey.Registration(
                ticket: ticket, presence: presence, deviceName: order.deviceName,
                signature: signature, attestation: attestation))
        do throws(VaultError) {
            let id = try vault.update { changes throws(VaultError) in
                try order.put(
                    key.form(), into: &changes, now: now, isEarlier, Set(earlier.keys),
                    standard: KeyEnrolment.standardAccess)
            }
            return (id, key)
        } catch {
            throw .vault(error)
        }
    }

    private func request(_ key: EnrolledKey) throws(DeviceLoginError) -> HelperRequest {
        guard let saved = key.registration else { throw .unreadable }
        return HelperRequest(
            server: key.server, authorities: key.authorities,
            idempotencyKey: try EnrolledLogin.key(
                of: "watchword device key", saved.ticket, key.point),
            operation: .keyRegistration(
                HelperRequest.KeyRegistration(
                    ticket: saved.ticket, point: key.point, signature: saved.signature,
                    presence: saved.presence, isInTPM: key.holding.isInTPM,
                    deviceName: saved.deviceName, attestation: key.evidence)))
    }
}
