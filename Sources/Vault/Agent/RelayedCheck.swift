internal import Devices
internal import SecretVault
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

/// Asks the system's modules in a process that the supervisor starts.
///
/// The client only shows their messages and passes the answers on: the verdict does not pass through
/// it.
///
/// The check is ``Advisory`` if the modules run as the same user as the client, and ``Enforced`` in
/// the system agent.
struct RelayedCheck<Grade: PresenceGrade>: PresenceCheck {
    private let context: RelayContext
    private let person: RemotePerson
    /// The user whom the modules check; `nil` for the user of this process.
    private let user: UInt32?
    /// What the check is for, as another client is told meanwhile.
    private let subject: String

    private let timeout: Duration

    init(
        _ context: RelayContext, _ person: RemotePerson, user: UInt32?, for name: EntryName,
        timeout: Duration = .seconds(60)
    ) {
        subject = name.text
        self.context = context
        self.person = person
        self.user = user
        self.timeout = timeout
    }

    /// One check at a time for each user: otherwise a program could keep a check waiting, which the
    /// person's answer or touch for another one satisfies.
    func isPresent(for purpose: String) throws(PAMCheckFailure) -> Bool {
        if let other = context.vaults.beginCheck(for: subject, of: user) {
            throw PAMCheckFailure(reason: .alreadyAsking(for: other), mayConcealAttempt: false)
        }
        defer { context.vaults.endCheck(of: user) }
        let deadline = Moment.now + timeout
        return try context.using { helpers throws(SystemCallFailure) in
            try helpers.startPresence(for: user)
        } otherwise: { refusal in
            let reason: PAMCheckFailure.Reason =
                switch refusal {
                case .notFound: .programNotFound
                case .locked: .cancelled
                case .system(let failure): .system(failure)
                }
            return PAMCheckFailure(reason: reason, mayConcealAttempt: false)
        } _: { connection throws(PAMCheckFailure) in
            try verdict(of: connection, until: deadline)
        }
    }

    private func verdict(
        of program: borrowing FileDescriptor, until deadline: Moment
    ) throws(PAMCheckFailure) -> Bool {
        let relay: ModuleRelay
        do { relay = try ModuleRelay(program, until: deadline) } catch {
            throw PAMCheckFailure(reason: error, mayConcealAttempt: false)
        }
        let end = Polling.Interest.reading(program)
        do throws(PAMCheckFailure.Reason) {
            return try relay.verdict(unless: person.leaving) {
                text throws(PAMCheckFailure.Reason) in
                try person.show(text)
            } asking: { text, isEchoed, lastAnswer throws(PAMCheckFailure.Reason) in
                try person.ask(text, isEchoed: isEchoed, for: end, until: lastAnswer)
            }
        } catch {
            throw PAMCheckFailure(reason: error, mayConcealAttempt: relay.mayHaveBeenAttempted)
        }
    }
}
