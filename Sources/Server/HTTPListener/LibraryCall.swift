internal import CMicroHTTPD
internal import Glibc
internal import Synchronization
internal import WatchwordCoding
internal import WatchwordCryptography

/// Handles one of libmicrohttpd's calls for a request.
///
/// Another thread uses the connection's handle only to resume it, which libmicrohttpd allows.
@safe struct LibraryCall: @unchecked Sendable {
    private let context: DaemonContext
    private let exchange: ConnectionExchange
    private let connection: OpaquePointer
    private let record: ConnectionRecord

    init(
        context: DaemonContext, exchange: ConnectionExchange, connection: OpaquePointer,
        record: ConnectionRecord
    ) {
        self.context = context
        self.exchange = exchange
        unsafe self.connection = unsafe connection
        self.record = record
    }

    private var listener: Listener { context.listener }

    private func setDeadline(in duration: Duration?) {
        listener.registry.setDeadline(duration.map { listener.registry.now() + $0 }, of: record)
    }

    /// The head is complete: receives the body, or refuses the request.
    func begin(_ head: RequestHead?) -> MHD_Result {
        guard let head else { return refuse(.malformed) }
        let understood: ValidatedHead
        do throws(HTTPRequestError) {
            understood = try head.understood(within: listener.limits)
        } catch {
            return refuse(error)
        }
        setDeadline(in: listener.limits.bodyTimeout)
        guard let length = understood.contentLength else {
            return refuseAfterBody(.lengthRequired, of: understood)
        }
        guard length <= listener.limits.body else {
            guard length <= ConnectionExchange.discardLimit else { return refuse(.bodyTooLarge) }
            return refuseAfterBody(.bodyTooLarge, of: understood)
        }
        exchange.withStage { $0 = .receiving(understood, body: []) }
        return .YES
    }

    /// Refuses a request after its body has arrived: a client that is still sending would not read
    /// the response.
    ///
    /// A client that is waiting for permission to send is refused at once.
    private func refuseAfterBody(_ refusal: HTTPRequestError, of head: ValidatedHead) -> MHD_Result
    {
        guard !head.expectsContinue else { return refuse(refusal) }
        exchange.withStage { $0 = .refusing(refusal, discarding: ConnectionExchange.discardLimit) }
        return .YES
    }

    private enum Step: Sendable {
        case handle(HTTPRequest)
        case refuse(HTTPRequestError)
        case send(HTTPResponse)
        case wait
    }

    /// The request or the response is complete.
    func proceed() -> MHD_Result {
        let peer = record.peer.text
        let step: Step = exchange.withStage { stage in
            switch stage {
            case .receiving(let head, let body):
                stage = .handling
                return .handle(
                    HTTPRequest(
                        method: head.method, target: head.target, headers: head.headers,
                        authorization: head.authorization, body: SecretBytes(copying: body.span),
                        peer: peer))
            case .refusing(let refusal, _): return .refuse(refusal)
            case .answered(let response):
                stage = .sent
                return .send(response)
            case .begun, .handling, .sent: return .wait
            }
        }
        switch step {
        case .handle(let request): return handle(request)
        case .refuse(let refusal): return refuse(refusal)
        case .send(let response):
            // The next request may take up to `headerTimeout` to arrive; the connection must not
            // end before that.
            let isOver = record.life.isOver(
                by: listener.registry.now() + listener.limits.headerTimeout)
            return send(response, isLast: isOver || listener.isDraining)
        case .wait: return .YES
        }
    }

    private func handle(_ request: HTTPRequest) -> MHD_Result {
        guard context.gate.enter() else { return .NO }
        setDeadline(in: nil)
        unsafe MHD_suspend_connection(connection)
        Task {
            let response = await listener.handler(request)
            if response.isAuthenticated { listener.registry.trust(record) }
            exchange.withStage { $0 = .answered(response) }
            unsafe MHD_resume_connection(connection)
            // Leave only now: stopping the daemon while a connection is suspended terminates the
            // process.
            context.gate.leave()
        }
        return .YES
    }

    /// The connection closes after a refused request, because the start of the next request may be
    /// unknown.
    private func refuse(_ refusal: HTTPRequestError) -> MHD_Result {
        exchange.withStage { $0 = .sent }
        return send(listener.refuser(refusal, record.peer.text), isLast: true)
    }

    private func send(_ response: HTTPResponse, isLast: Bool) -> MHD_Result {
        setDeadline(in: listener.limits.responseTimeout)
        guard let made = LibraryResponse(body: response.body) else { return .NO }
        let headers = isLast ? [HTTPField("Connection", "close")] : []
        // Send no response if one of its headers cannot be added.
        for header in response.headers + headers where !made.add(header) { return .NO }
        return unsafe made.queue(on: connection, status: response.status)
    }
}
