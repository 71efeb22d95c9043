internal import Courier
internal import VaultService
internal import WatchwordSystem

/// What a request needs to use a program that the supervisor starts, and to wait for it.
struct RelayContext: Sendable {
    /// Why the program was not used.
    enum Refusal {
        /// It was not found, or could not be started.
        case notFound
        /// The vault is no longer held.
        case locked
        case system(SystemCallFailure)
    }

    let helpers: HelperChannel
    /// Ends the wait when the vault is locked.
    let vaults: HeldVaults
    let place: VaultPlace
    /// The unlocking of the vault at `place`.
    let unlocking: UInt64
    /// Pauses during the wait; `nil` if the request has no turn.
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
        return try program.withConnection { connection throws(Failure) in
            let result = try vaults.waiting(for: connection, in: place, unlocking) {
                () throws(Failure) in
                guard let turn else { return try body(connection) }
                return try turn.paused { () throws(Failure) in try body(connection) }
            } otherwise: {
                failure(.system($0))
            }
            guard let result else { throw failure(.locked) }
            return result
        }
    }
}

extension AgentServices {
    /// What the current request needs to use programs, while the vault at `place` is held.
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
