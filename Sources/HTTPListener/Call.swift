internal import CMicroHTTPD
internal import Cryptography
internal import Glibc
internal import Synchronization

/// One call of libmicrohttpd's for one request: what is to be done next.
///
/// The connection's handle is given to one thing from another thread, resuming, which libmicrohttpd allows.
@safe struct Call: @unchecked Sendable {
    private let context: DaemonContext
    private let exchange: Exchange
    private let connection: OpaquePointer
    private let record: ConnectionRecord

    init(
        context: DaemonContext, exchange: Exchange, connection: OpaquePointer,
        record: ConnectionRecord
    ) {
        self.context = context
        self.exchange = exchange
        unsafe self.connection = unsafe connection
        self.record = record
    }

    private var listener: HTTPListener { context.listener }

    private func setDeadline(in duration: Duration?) {
        listener.registry.setDeadline(duration.map { listener.now() + $0 }, of: record)
    }

    /// The head is complete: takes the body, or refuses.
    func begin(_ head: RequestHead?) -> MHD_Result {
        guard let head else { return refuse(.malformed) }
        let understood: UnderstoodHead
        do throws(ListenerRefusal) {
            understood = try head.understood(within: listener.limits)
        } catch {
            return refuse(error)
        }
        setDeadline(in: listener.limits.bodyTime)
        guard let length = understood.contentLength else {
            return refuseAfterBody(.lengthRequired, of: understood)
        }
        guard length <= listener.limits.body else {
            guard length <= Exchange.patience else { return refuse(.bodyTooLarge) }
            return refuseAfterBody(.bodyTooLarge, of: understood)
        }
        exchange.withStage { $0 = .receiving(understood, body: []) }
        return .YES
    }

    /// Refuses a request once its body has come: before that, a client that sends would not hear it.
    ///
    /// A client that waits for leave to send is refused at once.
    private func refuseAfterBody(_ refusal: ListenerRefusal, of head: UnderstoodHead) -> MHD_Result
    {
        guard !head.expectsContinue else { return refuse(refusal) }
        exchange.withStage { $0 = .refusing(refusal, patience: Exchange.patience) }
        return .YES
    }

    private enum Step: Sendable {
        case handle(ListenerRequest)
        case refuse(ListenerRefusal)
        case send(ListenerResponse)
        case wait
    }

    /// Everything has come, or an answer is there.
    func proceed() -> MHD_Result {
        let peer = record.peer.text
        let step: Step = exchange.withStage { stage in
            switch stage {
            case .receiving(let head, let body):
                stage = .handling
                return .handle(
                    ListenerRequest(
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
            // The next request need not come before `headerTime` has passed; the connection must not end
            // under it.
            let isOver = record.life.isOver(by: listener.now() + listener.limits.headerTime)
            return send(response, isLast: isOver || listener.isDraining)
        case .wait: return .YES
        }
    }

    private func handle(_ request: ListenerRequest) -> MHD_Result {
        guard context.gate.enter() else { return .NO }
        setDeadline(in: nil)
        unsafe MHD_suspend_connection(connection)
        Task {
            let response = await listener.handler(request)
            exchange.withStage { $0 = .answered(response) }
            unsafe MHD_resume_connection(connection)
            // Not before: stopping the daemon while a connection is suspended ends the process.
            context.gate.leave()
        }
        return .YES
    }

    /// What is not understood is the last thing on its connection: where the next request begins is
    /// anybody's guess.
    private func refuse(_ refusal: ListenerRefusal) -> MHD_Result {
        exchange.withStage { $0 = .sent }
        return send(listener.refuser(refusal, record.peer.text), isLast: true)
    }

    private func send(_ response: ListenerResponse, isLast: Bool) -> MHD_Result {
        setDeadline(in: listener.limits.answerTime)
        guard let made = LibraryResponse(body: response.body) else { return .NO }
        let headers = isLast ? [ListenerHeader("Connection", "close")] : []
        // A response without one of its headers must not be sent.
        for header in response.headers + headers where !made.add(header) { return .NO }
        return unsafe made.queue(on: connection, status: response.status)
    }
}
