internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

// Callbacks for libmicrohttpd's threads. `context` is a ``DaemonContext`` that the daemon keeps
// alive.

typealias Context = UnsafeMutableRawPointer

private func daemonContext(_ context: Context?) -> DaemonContext? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<DaemonContext>.fromOpaque(context).takeUnretainedValue()
}

private func listener(_ context: Context?) -> Listener? {
    unsafe daemonContext(context)?.listener
}

/// Decides whether to accept a connection.
///
/// The connection is counted when it starts.
let acceptance: @convention(c) (Context?, UnsafePointer<sockaddr>?, socklen_t) -> MHD_Result = {
    context, address, _ in
    guard let listener = unsafe listener(context) else { return .NO }
    return unsafe listener.registry.accepts(PeerAddress(address)) ? .YES : .NO
}

/// A connection has started or is about to be closed.
let connectionNotice:
    @convention(c) (
        Context?, OpaquePointer?, UnsafeMutablePointer<Context?>?,
        MHD_ConnectionNotificationCode
    ) -> Void = { context, connection, slot, code in
        guard let context = unsafe daemonContext(context), let slot = unsafe slot else { return }
        let listener = context.listener
        if code == .CONNECTION_NOTIFY_STARTED {
            let now = listener.registry.now()
            let record = unsafe ConnectionRecord(
                socket: mhd_connection_socket(connection),
                peer: PeerAddress(mhd_client_address(connection)),
                life: ConnectionLife(
                    until: now + listener.limits.connectionLifetime, context.retirement))
            unsafe slot.pointee = Unmanaged.passRetained(record).toOpaque()
            listener.registry.add(record, until: now + listener.limits.headerTimeout)
        } else if let held = unsafe slot.pointee {
            let record = unsafe Unmanaged<ConnectionRecord>.fromOpaque(held).takeRetainedValue()
            // libmicrohttpd reports no completion for a request that it refused without a response
            // page.
            if let exchange = record.endExchange() {
                listener.end(exchange, from: record.peer, hasFailed: true)
            }
            listener.registry.remove(record)
            unsafe slot.pointee = nil
        }
    }

/// The first line has arrived; its target is copied before the library splits it.
///
/// libmicrohttpd allocates memory for each parameter of the query. If too little memory is left
/// (the query needs more than half of the connection's buffer), the library keeps a processor busy
/// until the connection is shut down.
let targetNotice: @convention(c) (Context?, UnsafePointer<CChar>?, OpaquePointer?) -> Context? = {
    context, target, connection in
    guard let listener = unsafe listener(context), let target = unsafe target,
        let record = unsafe record(of: connection)
    else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: target, count: strlen(target))
    let parameters = unsafe bytes.count { $0 == UInt8(ascii: "&") }
    if parameters > 0, bytes.count + 128 * parameters > Daemon.memory(listener.limits) / 2 {
        record.shutDown()
    }
    let exchange = unsafe ConnectionExchange(target: Array(bytes))
    // The connection's record keeps the exchange alive.
    record.begin(exchange)
    listener.begun.withLock { $0 += 1 }
    return unsafe Unmanaged.passUnretained(exchange).toOpaque()
}

/// Called when a request is over, answered or not.
let completionNotice:
    @convention(c) (
        Context?, OpaquePointer?, UnsafeMutablePointer<Context?>?, MHD_RequestTerminationCode
    ) -> Void = { context, connection, slot, code in
        unsafe slot?.pointee = nil
        guard let listener = unsafe listener(context),
            let record = unsafe record(of: connection), let exchange = record.endExchange()
        else { return }
        listener.end(
            exchange, from: record.peer, hasFailed: code == .REQUEST_TERMINATED_WITH_ERROR)
        // The deadline for the next request on this connection.
        listener.registry.setDeadline(
            listener.registry.now() + listener.limits.headerTimeout, of: record)
    }

/// Leaves percent-encoding unchanged; code that interprets the path decodes it.
let unescaping: @convention(c) (Context?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int = {
    _, _, text in
    guard let text = unsafe text else { return 0 }
    return unsafe strlen(text)
}

/// The record that was stored when the connection started.
func record(of connection: OpaquePointer?) -> ConnectionRecord? {
    guard let held = unsafe mhd_connection_context(connection) else { return nil }
    return unsafe Unmanaged<ConnectionRecord>.fromOpaque(held).takeUnretainedValue()
}

/// Called when the head is complete, when a part of the body has arrived, when the request is
/// complete, or when the response is ready.
let access:
    @convention(c) (
        Context?, OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
        UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeMutablePointer<Int>?,
        UnsafeMutablePointer<Context?>?
    ) -> MHD_Result = { context, connection, target, method, version, part, partSize, slot in
        guard let context = unsafe daemonContext(context), let connection = unsafe connection,
            let record = unsafe record(of: connection), let held = unsafe slot?.pointee,
            let partSize = unsafe partSize
        else { return .NO }
        let exchange = unsafe Unmanaged<ConnectionExchange>.fromOpaque(held).takeUnretainedValue()
        let call = unsafe LibraryCall(
            context: context, exchange: exchange, connection: connection, record: record)
        if let raw = exchange.targetOfNewRequest {
            let head = unsafe RequestHead(
                method: method, target: (target, raw), version: version, connection: connection)
            return call.begin(head)
        }
        if unsafe partSize.pointee > 0 {
            let bytes = unsafe UnsafeRawBufferPointer(start: part, count: partSize.pointee)
            let isContinued = unsafe exchange.receive(
                bytes.bindMemory(to: UInt8.self), limit: context.listener.limits.body)
            unsafe partSize.pointee = 0
            return isContinued ? .YES : .NO
        }
        return call.proceed()
    }
