package import Courier
package import SecretVault
package import WatchwordCryptography
package import WatchwordSystem

/// An enrolment: redeems a ticket for a secret, and stores the secret in the vault.
package struct Enrolment: Sendable {
    package let ticket: SecretBytes
    /// The server to sign in to.
    package let server: TrustedServer
    /// The device's name, as the account's owner will see it; may be empty.
    package let deviceName: String
    /// The name of the entry.
    package let name: EntryName
    /// The changes to the access control of an earlier enrolment, or to the default.
    package let access: AccessControlChange
    /// The binding of the entry to this device; `nil` if it is not bound.
    package var binding: BindingChoice?
    /// The device key to which the entry is bound, loaded for this enrolment.
    package var device: DeviceID?
    /// Protects the new entry outside of the vault, before it is saved.
    package var secure: @Sendable (RecordID) throws(VaultError) -> Void = { _ in }

    /// The maximum size of the certificates in bytes: the space in a record with the longest
    /// address, names and secrets.
    package static let largestAuthorities = 62 << 10
    /// The maximum size of a device's name in bytes.
    package static let longestDeviceName = 255

    package init(
        _ ticket: SecretBytes, at server: TrustedServer, deviceName: String, name: EntryName,
        access: AccessControlChange
    ) {
        self.ticket = ticket
        self.server = server
        self.deviceName = deviceName
        self.name = name
        self.access = access
    }

    /// Whether `text` has the form of a ticket, as far as all servers agree: a token after `wwt_`.
    package static func isTicket(_ text: SecretBytes) -> Bool {
        let prefix = Array("wwt_".utf8)
        return Token.isToken(text) && text.count > prefix.count
            && text.withBytes { bytes in prefix.indices.allSatisfy { bytes[$0] == prefix[$0] } }
    }

    /// Whether `entry` is an earlier enrolment under this name, which the new one replaces.
    package func replaces(_ entry: EntrySummary) -> Bool { EntryName(entry) == name }

    /// Whether the certificates and the device's name have valid sizes; the caller ensures this.
    var isWithinLimits: Bool {
        server.authorities.count <= Enrolment.largestAuthorities
            && deviceName.utf8.count <= Enrolment.longestDeviceName
    }
}

extension Enrolment {
    /// Redeems the ticket and stores the secret; the same save purges earlier enrolments under the
    /// name.
    ///
    /// If a run is killed or loses the response, repeat it with the same ticket: the server sends
    /// the same response again.
    ///
    /// - Parameters:
    ///   - turn: proves that no other process is signing in.
    ///   - confirmed: entries of this name that require a check at each use, and whose owner has
    ///     confirmed the replacement.
    /// - Throws: ``DeviceLoginError/alreadyEnrolled(as:)``; ``VaultError/presenceNeeded`` in
    ///   ``DeviceLoginError/vault(_:)`` for an earlier entry that requires a check at each use and
    ///   is not among `confirmed`, and ``VaultError/boundElsewhere`` for that of another device, or
    ///   ``VaultError/deviceKey(_:)`` if the other device is unknown; in both cases, nothing is
    ///   replaced.
    @discardableResult package func redeem(
        in vault: UnlockedVault, turn: borrowing LoginLock, over sender: inout some RequestSender,
        now: Int64, confirmed: Set<RecordID> = []
    ) throws(DeviceLoginError) -> EnrolledSecret {
        precondition(isWithinLimits, "the caller enforces the limits")
        guard Enrolment.isTicket(ticket) else { throw .badTicket }
        // Make sure that the vault has room before the ticket is redeemed.
        let binding = try DeviceLoginError.vault(
            in: vault.rehearse { changes throws(VaultError) in
                let id = try put(largestForm, into: &changes, now: now, confirmed: confirmed)
                return try changes.entry(id).binding?.binding
            })
        let custody = binding.flatMap { SecretCustody(rawValue: $0.rawValue) }
        let (credential, handed) = try ask(reporting: custody, over: &sender)
        let state = EnrolledSecret(
            server: server, credential: credential, handed: handed, now: now)
        if let holder = try holder(of: state.form(), in: vault) {
            throw .alreadyEnrolled(as: holder)
        }
        // The entry may have been removed. A server never reuses a credential's name.
        guard try !state.isStale(in: vault) else { throw .alreadyEnrolled(as: name.text) }
        try DeviceLoginError.vault(
            in: vault.update { changes throws(VaultError) in
                let id = try put(state.form(), into: &changes, now: now, confirmed: confirmed)
                try secure(id)
            })
        return state
    }

    /// The name of the entry that holds an enrolment already: a different entry, or an earlier
    /// entry under this name that has advanced.
    ///
    /// The server sends the response to a ticket again for some time. Storing the response again
    /// would present a secret twice, which the server treats as theft.
    private func holder(
        of form: SecretBytes, in vault: UnlockedVault
    ) throws(DeviceLoginError) -> String? {
        try DeviceLoginError.vault(
            in: vault.rehearse { changes throws(VaultError) in
                for entry in changes.entries where entry.kind == .enrolled {
                    do throws(VaultError) {
                        guard
                            case .enrolledSecret(_, _, let stored) = try changes.content(
                                of: entry.id)
                        else { continue }
                        switch EnrolledSecret.order(of: stored, form) {
                        case .unrelated: continue
                        case .same, .second: if replaces(entry) { continue }
                        case .first, .forked: break
                        }
                        return entry.name.text
                    } catch .wiped, .damaged, .boundElsewhere, .deviceKey { continue }
                }
                return nil
            })
    }

    /// A placeholder of the maximum size of the stored secret.
    private var largestForm: SecretBytes {
        let count =
            EnrolledSecret.largestRest + server.address.text.utf8.count + server.authorities.count
        return SecretBytes(capacity: count) { output in
            while output.freeCapacity > 0 { output.append(0) }
        }
    }

    private func ask(
        reporting custody: SecretCustody?, over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> (Token, HelperResponse.NextSecret) {
        let request = HelperRequest(
            server: server,
            idempotencyKey: EnrolledLogin.key(of: "watchword enrolment", ticket, []),
            operation: .enrolment(ticket: ticket, deviceName: deviceName, custody: custody))
        switch try EnrolledLogin.send(request, over: &sender) {
        case .enrolled(let credential, let handed):
            // Reject a generation that leaves no room for later ones.
            guard handed.generation < 1 << 62 else { throw .unexpectedResponse }
            return (credential, handed)
        // An older server refuses the request before it records anything.
        case .problem(let problem)
        where custody != nil && problem.type.text == "urn:watchword:problem:unknown-field":
            return try ask(reporting: nil, over: &sender)
        case .problem(let problem): throw .problem(problem, at: server.address)
        case .accepted, .denied, .registered, .keyToActivate, .keyActivated, .challenge, .signed,
            .content:
            throw .unexpectedResponse
        }
    }

    /// Adds an entry with this content and purges earlier enrolments.
    ///
    /// - Parameter replacing: returns the initial access control, given the earlier enrolments.
    func put(
        _ value: SecretBytes, into changes: inout VaultChanges, now: Int64,
        confirmed: Set<RecordID>,
        replacing: ([EntrySummary]) -> AccessControl = {
            $0.last?.accessControl ?? .standard(for: .enrolled)
        }
    ) throws(VaultError) -> RecordID {
        var earlier: [EntrySummary] = []
        for entry in changes.entries where entry.kind == .enrolled && replaces(entry) {
            try changes.requireHome(of: entry.id)
            // The entry may have been set to per-use after its owner confirmed.
            guard !entry.requiresCheckPerUse || confirmed.contains(entry.id) else {
                throw entry.hasVanished ? .vanishedEntries : .presenceNeeded
            }
            earlier.append(entry)
            try changes.erase(entry.id)
        }
        return try changes.add(
            .enrolledSecret(issuer: name.issuer, account: name.account, value: value),
            accessControl: access.applied(to: replacing(earlier)), boundTo: device, now: now)
    }
}

extension Enrolment: Transferable {
    package func write(to output: FrameWriter) {
        output.append(ticket, server.address)
        output.append(string: server.authorities.span)
        output.append(deviceName, name, access, binding)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        ticket = try fields.value(bytes)
        server = TrustedServer(
            try fields.value(bytes),
            authorities: try fields.data(bytes, limit: Enrolment.largestAuthorities))
        deviceName = try fields.text(bytes, limit: Enrolment.longestDeviceName)
        name = try fields.value(bytes)
        access = try fields.value(bytes)
        binding = try fields.value(bytes)
    }
}
