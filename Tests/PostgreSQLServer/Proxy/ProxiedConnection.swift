import Foundation
import TestSupport

/// One client's connection through a proxy, with one thread per direction.
final class ProxiedConnection: Sendable {
    private let client: LoopbackSocket
    private let server: LoopbackSocket
    private let state: ProxyState

    init(client: LoopbackSocket, server: LoopbackSocket, state: ProxyState) {
        self.client = client
        self.server = server
        self.state = state
    }

    func start() {
        Thread.detachNewThread { self.begin() }
    }

    /// Closes the connection on both sides.
    func cut() {
        client.end()
        server.end()
    }

    /// Forwards the client's first messages.
    ///
    /// Until the server has answered the encryption request with a single byte, which is not a
    /// message, only one side sends at a time.
    private func begin() {
        var stream = MessageStream(isBeginning: true)
        var tally = ProxyState.Tally()
        var isOpaque = false
        while stream.isBeginning {
            guard let message = stream.next() else {
                guard let bytes = client.receive() else { return cut() }
                stream.append(bytes)
                continue
            }
            guard pass(message, .toServer, &tally) else { return }
            let code = message.bytes.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            // SSLRequest and GSSENCRequest. Any other message starts a session or cancels a query.
            if code == 80_877_103 || code == 80_877_104 {
                guard let answer = server.receive() else { return cut() }
                isOpaque = answer == [UInt8(ascii: "S")] || answer == [UInt8(ascii: "G")]
                client.send(answer[...])
                guard isOpaque else { continue }
            }
            stream.isBeginning = false
        }
        stream.isOpaque = isOpaque
        Thread.detachNewThread { [isOpaque] in
            var back = MessageStream(isBeginning: false)
            back.isOpaque = isOpaque
            var tally = ProxyState.Tally()
            self.pump(.toClient, &back, &tally)
        }
        pump(.toServer, &stream, &tally)
    }

    /// Forwards one direction until its end.
    private func pump(
        _ way: ProxyFault.Way, _ stream: inout MessageStream, _ tally: inout ProxyState.Tally
    ) {
        let (from, to) = way == .toServer ? (client, server) : (server, client)
        while true {
            while let message = stream.next() {
                guard pass(message, way, &tally) else { return }
            }
            guard let bytes = from.receive() else { break }
            stream.append(bytes)
        }
        awaitHealing()
        to.endSending()
    }

    /// Forwards a message, or the part that should arrive.
    ///
    /// Returns whether the connection is still open.
    private func pass(
        _ message: MessageStream.Message, _ way: ProxyFault.Way, _ tally: inout ProxyState.Tally
    ) -> Bool {
        awaitHealing()
        let delay = state.delay
        if delay > .zero { Thread.sleep(forTimeInterval: delay / .seconds(1)) }
        let verdict = state.judge(message, going: way, &tally)
        let to = way == .toServer ? server : client
        // After a cut, no response to this message may reach the client.
        if case .cut = verdict.deed, way == .toServer { client.end() }
        guard to.send(message.bytes.prefix(verdict.count)) else {
            cut()
            return false
        }
        switch verdict.deed {
        case nil: return true
        case .cut:
            cut()
            return false
        case .stall:
            awaitHealing()
            return to.send(message.bytes.dropFirst(verdict.count))
        }
    }

    private func awaitHealing() {
        while state.isStalled { usleep(2_000) }
    }
}
