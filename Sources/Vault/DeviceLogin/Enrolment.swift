public import Courier
public import SecretVault
public import WatchwordCryptography

/// An enrolment: redeems a ticket for a secret, and stores the secret in the vault.
public struct Enrolment: Sendable {
    /// The server to sign in to.
    public let server: ServerAddress
    /// The certificate authorities to trust, in PEM; empty for the system's.
    public let authorities: [UInt8]
    /// The device's name, as the account's owner will see it; may be empty.
    public let deviceName: String
    /// The issuer and account: the name of the entry.
    public let name: (issuer: String, account: String)
    /// Chooses the access control, given that of an earlier enrolment under this name, or the
    /// default if there is none.
    public let accessControl: @Sendable (AccessControl) -> AccessControl

    /// The maximum size of the certificates in bytes: what fits in a record with the longest
    /// address, names and secrets.
    public static let largestAuthorities = 62 << 10
    /// The maximum size of a device's name in bytes.
    public static let longestDeviceName = 255

    /// Describes an enrolment.
    public init(
        server: ServerAddress, authorities: [UInt8], deviceName: String,
        name: (issuer: String, account: String),
        accessControl: @escaping @Sendable (AccessControl) -> AccessControl = { $0 }
    ) {
        precondition(
            authorities.count <= Enrolment.largestAuthorities, "the caller enforces this limit")
        precondition(
            deviceName.utf8.count <= Enrolment.longestDeviceName, "the caller enforces this limit")
        self.server = server
        self.authorities = authorities
        self.deviceName = deviceName
        self.name = name
        self.accessControl = accessControl
    }

    /// Redeems `ticket` and stores the secret; the same save purges earlier enrolments under the
    /// name.
    ///
    /// If a run is killed or loses the response, repeat it with the same ticket: the server sends
    /// the same response again.
    ///
    /// - Parameters:
    ///   - turn: proves that no other process is signing in.
    ///   - isEarlier: whether an entry is an earlier enrolment under this name.
    ///   - confirmed: entries of this name that require a check at each use, and whose owner has
    ///     confirmed the replacement.
    /// - Throws: ``DeviceLoginError/alreadyEnrolled(as:)``; ``VaultError/presenceNeeded`` in
    ///   ``DeviceLoginError/vault(_:)`` for an earlier
    ///   entry that requires a check at each use and is not among `confirmed`; in that case,
    ///   nothing is replaced.
    @discardableResult public func redeem(
        _ ticket: SecretBytes, in vault: UnlockedVault, turn: borrowing LoginLock,
        over sender: inout some RequestSender, now: Int64, isEarlier: (EntrySummary) -> Bool,
        confirmed: Set<RecordID> = []
    ) throws(DeviceLoginError) -> EnrolledSecret {
        guard Token.isToken(ticket) else { throw .badTicket }
        // Make sure that the vault has room before the ticket is redeemed.
        try inVault { () throws(VaultError) in
            try vault.rehearse { changes throws(VaultError) in
                _ = try put(largestForm, into: &changes, now: now, isEarlier, confirmed)
            }
        }
        let request = HelperRequest(
            server: server, authorities: authorities,
            idempotencyKey: EnrolledLogin.key(of: "watchword enrolment", ticket, []),
            operation: .enrolment(ticket: ticket, deviceName: deviceName))
        let (credential, handed) = try ask(request, over: &sender)
        let state = EnrolledSecret(
            server: server, authorities: authorities, credential: credential, handed: handed,
            now: now)
        if let holder = try holder(of: state.form(), in: vault, isEarlier) {
            throw .alreadyEnrolled(as: holder)
        }
        // The entry may be gone. A server never uses a credential's name again.
        guard try !state.isStale(in: vault) else {
            throw .alreadyEnrolled(as: EntryName(issuer: name.issuer, account: name.account).text)
        }
        try inVault { () throws(VaultError) in
            try vault.update { changes throws(VaultError) in
                _ = try put(state.form(), into: &changes, now: now, isEarlier, confirmed)
            }
        }
        return state
    }

    /// The name of the entry that holds an enrolment already: another entry, or an earlier one under
    /// this name that has advanced.
    ///
    /// The server sends the response to a ticket again for some time. To store it again would present
    /// a secret twice, which the server treats as theft.
    private func holder(
        of form: SecretBytes, in vault: UnlockedVault, _ isEarlier: (EntrySummary) -> Bool
    ) throws(DeviceLoginError) -> String? {
        do throws(VaultError) {
            return try vault.rehearse { changes throws(VaultError) in
                for entry in changes.entries where entry.kind == .enrolled {
                    do throws(VaultError) {
                        guard
                            case .enrolledSecret(_, _, let stored) = try changes.content(
                                of: entry.id)
                        else { continue }
                        switch EnrolledSecret.order(of: stored, form) {
                        case .unrelated: continue
                        case .same, .second: if isEarlier(entry) { continue }
                        case .first, .forked: break
                        }
                        return entry.name.text
                    } catch .wiped { continue } catch .damaged { continue }
                }
                return nil
            }
        } catch {
            throw .vault(error)
        }
    }

    /// A placeholder of the maximum size of the stored secret.
    private var largestForm: SecretBytes {
        let count = EnrolledSecret.largestRest + server.text.utf8.count + authorities.count
        return SecretBytes(capacity: count) { output in
            while output.freeCapacity > 0 { output.append(0) }
        }
    }

    private func ask(
        _ request: HelperRequest, over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> (Token, HelperResponse.NextSecret) {
        switch try EnrolledLogin.send(request, over: &sender) {
        case .enrolled(let credential, let handed):
            // Reject a generation that leaves no room for later ones.
            guard handed.generation < 1 << 62 else { throw .unexpectedResponse }
            return (credential, handed)
        case .problem(let problem): throw .problem(problem)
        case .accepted, .denied, .registered, .keyToActivate, .keyActivated, .challenge,
            .signed:
            throw .unexpectedResponse
        }
    }

    /// Adds an entry with this content and purges earlier enrolments.
    ///
    /// - Parameter replacing: the access control to begin with, given the earlier enrolments.
    func put(
        _ value: SecretBytes, into changes: inout VaultChanges, now: Int64,
        _ isEarlier: (EntrySummary) -> Bool, _ confirmed: Set<RecordID>,
        replacing: ([EntrySummary]) -> AccessControl = {
            $0.last?.accessControl ?? .standard(for: .enrolled)
        }
    ) throws(VaultError) -> RecordID {
        var earlier: [EntrySummary] = []
        for entry in changes.entries where entry.kind == .enrolled && isEarlier(entry) {
            // The entry may have been set to per-use after its owner confirmed.
            guard !entry.requiresCheckPerUse || confirmed.contains(entry.id) else {
                throw entry.hasVanished ? .vanishedEntries : .presenceNeeded
            }
            earlier.append(entry)
            try changes.erase(entry.id)
        }
        return try changes.add(
            .enrolledSecret(issuer: name.issuer, account: name.account, value: value),
            accessControl: accessControl(replacing(earlier)), now: now)
    }

    private func inVault(_ body: () throws(VaultError) -> Void) throws(DeviceLoginError) {
        do { try body() } catch { throw .vault(error) }
    }
}
