internal import Courier
internal import Devices
internal import SecretVault
internal import VaultService
internal import WatchwordCryptography
internal import WatchwordSystem

/// The dependencies of a request that uses a program started by the supervisor and waits for it.
struct RelayContext: Sendable {
    /// The reason why the program was not used.
    enum Refusal {
        /// The program was not found or could not be started.
        case notFound
        /// The vault is no longer held.
        case locked
        case system(SystemCallFailure)
    }

    let helpers: HelperChannel
    /// The held vaults, which end the wait when the vault is locked.
    let vaults: HeldVaults
    let place: VaultPlace
    /// The unlocking of the vault at `place`.
    let unlocking: UInt64
    /// The turn of the request, which is paused during the wait; `nil` if the request has none.
    let turn: RequestTurn?

    /// Starts a program, and runs `body` with the connection to it.
    func using<Result, Failure: Error>(
        _ start: (HelperChannel) throws(SystemCallFailure) -> HelperChannel.Started?,
        otherwise failure: (Refusal) -> Failure,
        _ body: (borrowing FileDescriptor) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let program: HelperChannel.Started?
        do throws(SystemCallFailure) { program = try start(helpers) } catch {
            throw failure(.system(error))
        }
        guard let program else { throw failure(.notFound) }
        let shared = program.sharedConnection
        return try program.withConnection { connection throws(Failure) in
            let result = try vaults.waiting(for: shared, in: place, unlocking) {
                () throws(Failure) in
                guard let turn else { return try body(connection) }
                return try turn.paused { () throws(Failure) in try body(connection) }
            }
            guard let result else { throw failure(.locked) }
            return result
        }
    }
}

extension AgentServices {
    /// The context in which the current request uses programs, while the vault at `place` is held.
    func relay(in place: VaultPlace, _ unlocking: UInt64) -> RelayContext {
        RelayContext(
            helpers: helpers, vaults: vaults, place: place, unlocking: unlocking, turn: turn)
    }
}

/// Sends requests to a server through `watchword-courier`, which the supervisor starts.
///
/// This process has no network access; of a server's data, it parses only the helper's frames.
struct RelayedCourier: RequestSender {
    private let context: RelayContext

    init(_ context: RelayContext) { self.context = context }

    func send(_ request: HelperRequest) throws(HTTPHelperFailure) -> HelperResponse {
        try context.using { helpers throws(SystemCallFailure) in
            try helpers.startCourier()
        } otherwise: { refusal in
            switch refusal {
            case .notFound: HTTPHelperFailure.helper(.notFound)
            case .locked: .timedOut
            case .system(let failure): .helper(.system(failure))
            }
        } _: { connection throws(HTTPHelperFailure) in
            try HTTPHelper.send(request, over: connection)
        }
    }
}

/// Runs the system's PAM modules in a process that the supervisor starts.
///
/// The client only shows their messages and passes the answers on: the verdict does not pass
/// through it.
///
/// The check is ``Advisory`` if the modules run as the same user as the client, and ``Enforced`` in
/// the system agent.
struct RelayedCheck<Grade: PresenceGrade>: PresenceCheck {
    private let context: RelayContext
    private let person: RemotePerson
    /// The user whom the modules check; `nil` for the user of this process.
    private let user: UInt32?
    /// The purpose of the check, which is reported to another client meanwhile.
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

    /// Only one check at a time runs for each user: otherwise, a program could keep its own check
    /// waiting until the person's answer or touch for a different check satisfies it.
    func isPresent(for purpose: String) throws(PAMCheckFailure) -> Bool {
        if let other = context.vaults.beginCheck(for: subject, of: user) {
            throw PAMCheckFailure(.alreadyAsking(for: other))
        }
        defer { context.vaults.endCheck(of: user) }
        let deadline = Moment.now + timeout
        return try context.using { helpers throws(SystemCallFailure) in
            try helpers.startPresence(for: user)
        } otherwise: {
            PAMCheckFailure($0)
        } _: { connection throws(PAMCheckFailure) in
            try verdict(of: connection, until: deadline)
        }
    }

    private func verdict(
        of program: borrowing FileDescriptor, until deadline: Moment
    ) throws(PAMCheckFailure) -> Bool {
        let relay = try ModuleRelay(program, until: deadline)
        let end = Polling.Interest.reading(program)
        do throws(PAMCheckFailure) {
            return try relay.verdict(unless: person.leaving) { text throws(PAMCheckFailure) in
                try person.show(text)
            } asking: { text, isEchoed, lastAnswer throws(PAMCheckFailure) in
                try person.ask(text, isEchoed: isEchoed, for: end, until: lastAnswer)
            }
        } catch {
            throw PAMCheckFailure(error.reason, mayConcealAttempt: relay.mayHaveBeenAttempted)
        }
    }
}

extension PAMCheckFailure {
    fileprivate init(_ refusal: RelayContext.Refusal) {
        switch refusal {
        case .notFound: self.init(.programNotFound)
        case .locked: self.init(.cancelled)
        case .system(let failure): self.init(.system(failure))
        }
    }
}

extension RelayContext {
    /// Must be longer than fprintd may take for two readers.
    private static let fingerTimeout = Duration.seconds(15)

    /// The enrolled fingers of a user; `nil` if fprintd does not report them.
    func fingers(of user: UInt32) throws(PAMCheckFailure) -> EnrolledFingers? {
        try using { helpers throws(SystemCallFailure) in
            try helpers.startFingers(of: user)
        } otherwise: {
            PAMCheckFailure($0)
        } _: { program throws(PAMCheckFailure) in
            let received = try PAMCheckFailure.system(
                in: LentHelperConnection(
                    program, limit: EnrolledFingers.longestText + 8,
                    timeout: RelayContext.fingerTimeout
                ).receive())
            guard case .frame(let frame) = received else { return nil }
            return frame.value(as: EnrolledFingers?.self) ?? nil
        }
    }
}
