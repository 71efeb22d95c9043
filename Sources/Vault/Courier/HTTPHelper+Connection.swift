package import WatchwordSystem

// A helper that another process started.
extension HTTPHelper {
    /// Sends one request to the helper at the other end of `connection`, a non-blocking socket that
    /// is its standard input and output.
    package static func send(
        _ request: HelperRequest, over connection: borrowing FileDescriptor,
        timeout: Duration = .seconds(60)
    ) throws(HTTPHelperFailure) -> HelperResponse {
        precondition(request.fits, "the request exceeds the limits of the protocol")
        let reply: WipedBuffer?
        do throws(SystemCallFailure) {
            reply = try exchange(request, over: connection, until: .now + timeout)
        } catch {
            throw .helper(.system(error))
        }
        return try response(in: reply) { .unknown }
    }

    /// Sends the request and reads the reply until the helper closes its end.
    ///
    /// - Returns: `nil` if `deadline` passed first.
    private static func exchange(
        _ request: HelperRequest, over connection: borrowing FileDescriptor,
        until deadline: Moment
    ) throws(SystemCallFailure) -> WipedBuffer? {
        let frame = try WipedBuffer(capacity: 4 + HelperProtocol.largestRequest)
        frame.append(UInt32(0).littleEndianBytes)
        request.encode(into: frame)
        frame.replace(from: 0, with: UInt32(frame.count - 4).littleEndianBytes.span)
        var sent = 0
        sending: while sent < frame.count {
            let progress = try frame.withBytes { bytes throws(SystemCallFailure) in
                try connection.writeAvailable(bytes.extracting(sent..<bytes.count))
            }
            switch progress {
            case .moved(let count): sent += count
            // A helper that has ended no longer reads; its reply is read next.
            case .ended: break sending
            case .wouldWait:
                guard try wait(for: .writing(connection), until: deadline) else { return nil }
            }
        }
        let reply = try WipedBuffer(capacity: HelperProtocol.largestReply)
        while true {
            let progress = try reply.append { output throws(SystemCallFailure) in
                try connection.readAvailable(into: &output)
            }
            switch progress {
            case .moved: continue
            case .ended: return reply
            case .wouldWait:
                guard try wait(for: .reading(connection), until: deadline) else { return nil }
            }
        }
    }

    /// - Returns: whether there is time left.
    private static func wait(
        for interest: Polling.Interest, until deadline: Moment
    ) throws(SystemCallFailure) -> Bool {
        let remaining = deadline.timeRemaining
        guard remaining > .zero else { return false }
        _ = try Polling.wait(for: [interest], timeout: remaining)
        return true
    }
}
