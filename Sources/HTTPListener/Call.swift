internal import CMicroHTTPD
internal import Cryptography
internal import Glibc
internal import Synchronization

/// One call of libmicrohttpd's for one request: what is to be done next.
///
/// The connection's handle is given to one thing from another thread, resuming, which libmicrohttpd allows.
@safe struct Call: @unchecked Sendable {
    let listener: HTTPListener
    let exchange: Exchange
    private let connection: OpaquePointer
    private let record: ConnectionRecord?

    init(
        listener: HTTPListener, exchange: Exchange, connection: OpaquePointer,
        record: ConnectionRecord?
    ) {
        self.listener = listener
        self.exchange = exchange
        unsafe self.connection = unsafe connection
        self.record = record
    }

    private var peer: String { record?.peer.text ?? PeerAddress.unknown.text }

    private func setDeadline(in duration: Duration?) {
        guard let record else { return }
        listener.registry.setDeadline(duration.map { .now + $0 }, of: record)
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
        guard let length = understood.contentLength, length > listener.limits.body else {
            exchange.withStage { $0 = .receiving(understood, body: []) }
            return .YES
        }
        // Who waits for a word before sending gets it at once; who sends already is let finish, so
        // that it hears the word at all.
        guard !understood.expectsContinue, length <= Exchange.patience else {
            return refuse(.bodyTooLarge)
        }
        exchange.withStage { $0 = .refusing(.bodyTooLarge, patience: Exchange.patience) }
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
        let peer = peer
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
        case .handle(let request):
            handle(request)
            return .YES
        case .refuse(let refusal): return refuse(refusal)
        case .send(let response): return send(response, isLast: listener.isDraining)
        case .wait: return .YES
        }
    }

    private func handle(_ request: ListenerRequest) {
        setDeadline(in: nil)
        listener.handling.withLock { $0 += 1 }
        unsafe MHD_suspend_connection(connection)
        Task {
            let response = await listener.handler(request)
            exchange.withStage { $0 = .answered(response) }
            unsafe MHD_resume_connection(connection)
            // Not before: stopping the daemon while a connection is suspended ends the process.
            listener.handling.withLock { $0 -= 1 }
        }
    }

    /// What is not understood is the last thing on its connection: where the next request begins is
    /// anybody's guess.
    private func refuse(_ refusal: ListenerRefusal) -> MHD_Result {
        exchange.withStage { $0 = .sent }
        return send(listener.refuser(refusal, peer), isLast: true)
    }

    private func send(_ response: ListenerResponse, isLast: Bool) -> MHD_Result {
        setDeadline(in: listener.limits.answerTime)
        // The library's copy is the one that is sent; it does not wipe it.
        let made = unsafe response.body.withBytes { body in
            unsafe body.withUnsafeBytes { body in
                unsafe MHD_create_response_from_buffer(
                    body.count, UnsafeMutableRawPointer(mutating: body.baseAddress),
                    .RESPMEM_MUST_COPY)
            }
        }
        guard let made = unsafe made else { return .NO }
        defer { unsafe MHD_destroy_response(made) }
        var headers = response.headers
        if isLast { headers.append(ListenerHeader("Connection", "close")) }
        for header in headers {
            // Refused are a line end or a NUL in it; an answer without one of its headers is none.
            guard unsafe MHD_add_response_header(made, header.name, header.value) == .YES else {
                return .NO
            }
        }
        return unsafe MHD_queue_response(connection, UInt32(response.status), made)
    }
}
