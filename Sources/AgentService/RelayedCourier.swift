internal import Courier
internal import POSIX
internal import VaultAgent

/// Sends requests to a server through `watchword-courier`, which the supervisor starts.
///
/// This process has no network access; of a server's data, it parses only the helper's frames.
struct RelayedCourier: RequestSender {
    private let helpers: HelperChannel
    /// Ends the request when the vault is locked.
    private let vaults: HeldVaults
    private let place: VaultPlace
    private let unlocking: UInt64

    init(
        _ helpers: HelperChannel, for vaults: HeldVaults, _ place: VaultPlace,
        _ unlocking: UInt64
    ) {
        self.helpers = helpers
        self.vaults = vaults
        self.place = place
        self.unlocking = unlocking
    }

    func send(_ request: HelperRequest) throws(HTTPHelperFailure) -> HelperResponse {
        let program: HelperChannel.Started?
        do throws(SystemCallFailure) { program = try helpers.startCourier() } catch {
            throw .helper(.system(error))
        }
        guard let program else { throw .helper(.notFound) }
        return try program.withConnection { connection throws(HTTPHelperFailure) in
            let response = try vaults.waiting(for: connection, in: place, unlocking) {
                () throws(HTTPHelperFailure) in
                try HTTPHelper.send(request, over: connection)
            } otherwise: {
                HTTPHelperFailure.helper(.system($0))
            }
            guard let response else { throw .timedOut }
            return response
        }
    }
}
