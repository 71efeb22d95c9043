internal import Courier
internal import VaultService
internal import WatchwordSystem

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
