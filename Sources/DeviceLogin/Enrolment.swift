public import Courier
public import Cryptography
public import SecretVault

/// The redeeming of a ticket for a secret that goes into the vault.
public struct Enrolment: Sendable {
    /// Where to sign in.
    public let server: ServerAddress
    /// The authorities to trust instead of the system's, in PEM; empty for the system's.
    public let authorities: [UInt8]
    /// What the account's owner will know the device by; may be empty.
    public let deviceName: String
    /// Who issued it and whose it is: the entry's name.
    public let name: (issuer: String, account: String)
    /// Decides who must be there before it opens, and what failing costs, from what an earlier enrolment of
    /// the name had; from the default where there was none.
    public let accessControl: @Sendable (AccessControl) -> AccessControl

    /// More certificates than anybody trusts one by one, and as many as fit into a record beside the
    /// longest address, names and secrets.
    public static let largestAuthorities = 62 << 10
    /// Bytes of a device's name.
    public static let longestDeviceName = 255

    /// States what is wanted.
    public init(
        server: ServerAddress, authorities: [UInt8], deviceName: String,
        name: (issuer: String, account: String),
        accessControl: @escaping @Sendable (AccessControl) -> AccessControl = { $0 }
    ) {
        precondition(authorities.count <= Enrolment.largestAuthorities, "limited where it is read")
        precondition(
            deviceName.utf8.count <= Enrolment.longestDeviceName, "limited where it is read")
        self.server = server
        self.authorities = authorities
        self.deviceName = deviceName
        self.name = name
        self.accessControl = accessControl
    }

    /// Redeems `ticket` and keeps the secret; what an earlier enrolment left under the name is purged in the same
    /// saving.
    ///
    /// A run that was killed, or that lost its answer, is repeated with the same ticket: the server
    /// answers the same again.
    ///
    /// - Parameters:
    ///   - turn: proves that no other process signs in meanwhile.
    ///   - isEarlier: tells the entries of this name.
    ///   - confirmed: the entries of this name that ask at each use and whose owner agreed.
    /// - Throws: ``VaultError/presenceNeeded`` in ``DeviceLoginError/vault(_:)`` for an earlier entry that
    ///   asks at each use and is not among `confirmed`; nothing is replaced then.
    @discardableResult public func redeem(
        _ ticket: SecretBytes, in vault: UnlockedVault, turn: borrowing LoginTurn,
        over sender: inout some RequestSender, now: Int64, isEarlier: (EntrySummary) -> Bool,
        confirmed: Set<RecordID> = []
    ) throws(DeviceLoginError) -> EnrolledSecret {
        guard Token.isToken(ticket) else { throw .badTicket }
        // A vault that has no room says so before the ticket is spent.
        try inVault { () throws(VaultError) in
            try vault.rehearse { changes throws(VaultError) in
                try put(largestForm, into: &changes, now: now, isEarlier, confirmed)
            }
        }
        let request = HelperRequest(
            server: server, authorities: authorities,
            idempotencyKey: try DeviceLogin.key(of: "watchword enrolment", ticket, []),
            operation: .enrolment(ticket: ticket, deviceName: deviceName))
        let (credential, handed) = try ask(request, over: &sender)
        let state = EnrolledSecret(
            server: server, authorities: authorities, credential: credential, handed: handed,
            now: now)
        try inVault { () throws(VaultError) in
            try vault.update { changes throws(VaultError) in
                try put(state.form(), into: &changes, now: now, isEarlier, confirmed)
            }
        }
        return state
    }

    /// As many bytes as the secret will take at most.
    private var largestForm: SecretBytes {
        let count = EnrolledSecret.largestRest + server.text.utf8.count + authorities.count
        return SecretBytes(capacity: count) { output in
            while output.freeCapacity > 0 { output.append(0) }
        }
    }

    private func ask(
        _ request: HelperRequest, over sender: inout some RequestSender
    ) throws(DeviceLoginError) -> (Token, HelperResponse.HandedSecret) {
        switch try DeviceLogin.send(request, over: &sender) {
        case .enrolled(let credential, let handed):
            // A number that could not be counted on from is none.
            guard handed.generation < 1 << 62 else { throw .senseless }
            return (credential, handed)
        case .problem(let problem): throw .problem(problem)
        case .accepted, .denied: throw .senseless
        }
    }

    private func put(
        _ value: SecretBytes, into changes: inout VaultChanges, now: Int64,
        _ isEarlier: (EntrySummary) -> Bool, _ confirmed: Set<RecordID>
    ) throws(VaultError) {
        var access = AccessControl.standard(for: .enrolled)
        for entry in changes.entries where entry.kind == .enrolled && isEarlier(entry) {
            // It may have begun to ask after its owner was asked.
            guard !entry.asksAtUse || confirmed.contains(entry.id) else { throw .presenceNeeded }
            access = entry.accessControl
            try changes.remove(entry.id, purge: true)
        }
        try changes.add(
            .enrolledSecret(issuer: name.issuer, account: name.account, value: value),
            accessControl: accessControl(access), now: now)
    }

    private func inVault(_ body: () throws(VaultError) -> Void) throws(DeviceLoginError) {
        do { try body() } catch { throw .vault(error) }
    }
}
