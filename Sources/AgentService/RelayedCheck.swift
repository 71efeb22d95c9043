internal import Cryptography
internal import POSIX
internal import Presence
internal import PresenceDevices
internal import VaultAgent

/// Asks the system's modules in a process that the supervisor starts.
///
/// The client only shows their messages and passes the answers on: the verdict does not pass through
/// it.
///
/// The check is ``Advisory`` if the modules run as the same user as the client, and ``Enforced`` in
/// the system agent.
struct RelayedCheck<Grade: PresenceGrade>: PresenceCheck {
    private let helpers: HelperChannel
    private let person: RemotePerson
    /// The user whom the modules check; `nil` for the user of this process.
    private let user: UInt32?
    /// Ends the check when the vault is locked.
    private let vaults: HeldVaults
    private let place: VaultPlace
    private let unlocking: UInt64

    private static var timeout: Duration { .seconds(60) }

    /// - Parameter unlocking: the number of the unlocking of the vault at `place`.
    init(
        _ helpers: HelperChannel, _ person: RemotePerson, user: UInt32?, in vaults: HeldVaults,
        _ place: VaultPlace, _ unlocking: UInt64
    ) {
        self.helpers = helpers
        self.person = person
        self.user = user
        self.vaults = vaults
        self.place = place
        self.unlocking = unlocking
    }

    func isPresent(for purpose: String) throws(PAMCheckFailure) -> Bool {
        let deadline = Moment.now + RelayedCheck.timeout
        let program: HelperChannel.Started?
        do { program = try helpers.startPresence(for: user) } catch {
            throw PAMCheckFailure(reason: .system(error), mayConcealAttempt: false)
        }
        guard let program else {
            throw PAMCheckFailure(reason: .programNotFound, mayConcealAttempt: false)
        }
        return try program.withConnection { connection throws(PAMCheckFailure) in
            let answer = try vaults.waiting(for: connection, in: place, unlocking) {
                () throws(PAMCheckFailure) in
                try verdict(of: connection, until: deadline)
            } otherwise: {
                PAMCheckFailure(reason: .system($0), mayConcealAttempt: false)
            }
            guard let answer else {
                throw PAMCheckFailure(reason: .cancelled, mayConcealAttempt: false)
            }
            return answer
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
            } asking: { text, isEchoed, answer throws(PAMCheckFailure.Reason) in
                try person.ask(
                    text, isEchoed: isEchoed, for: end, until: deadline, into: answer)
            }
        } catch {
            throw PAMCheckFailure(reason: error, mayConcealAttempt: relay.mayHaveBeenAttempted)
        }
    }
}
