import Foundation
import Synchronization
import TestSupport

/// A TPM that answers like another one, except for one of its responses.
final class HostileTPM: Sendable {
    /// What is wrong with the response.
    enum Fault: Sendable, Equatable {
        /// The bits of this byte, counted from the end, are inverted.
        case changed(fromEnd: Int)
        /// Only half of it arrives.
        case truncated
        /// It is noise.
        case noise
        /// The connection ends instead.
        case ended
        /// It never arrives.
        case silent
    }

    private let commands: LoopbackSocket
    private let controls: LoopbackSocket
    private let count = Mutex(0)
    private let held = Mutex<[LoopbackSocket]>([])

    /// Spoils the response number `position`, counted from 1.
    init(_ tpm: EmulatedTPM, _ fault: Fault, at position: Int) throws {
        (commands, controls) = try HostileTPM.neighbours()
        let port = tpm.port
        Thread.detachNewThread { [commands, weak self] in
            while let client = commands.accepted() {
                guard let self, let request = client.receive(),
                    let response = HostileTPM.response(to: request, at: port)
                else { continue }
                let number = self.count.withLock { count in
                    count += 1
                    return count
                }
                guard number == position else {
                    client.send(response[...])
                    continue
                }
                self.answer(client, with: response, fault)
            }
        }
        Thread.detachNewThread { [controls] in
            while let client = controls.accepted() {
                guard let request = client.receive(),
                    let response = HostileTPM.response(to: request, at: port + 1)
                else { continue }
                client.send(response[...])
            }
        }
    }

    deinit {
        commands.end()
        controls.end()
    }

    /// The number of commands so far.
    var commandCount: Int { count.withLock { $0 } }

    var address: String { "swtpm:host=127.0.0.1,port=\(commands.port)" }

    private func answer(_ client: LoopbackSocket, with response: [UInt8], _ fault: Fault) {
        switch fault {
        case .changed(let position):
            var changed = response
            changed[max(changed.count - 1 - position, 0)] ^= 0xff
            client.send(changed[...])
        case .truncated: client.send(response.prefix(response.count / 2))
        case .noise:
            client.send([0x80, 2, 0, 0, 0, 40, 0, 0, 0, 0] + [UInt8](repeating: 0xff, count: 30))
        case .ended: client.end()
        // The connection must stay open.
        case .silent: held.withLock { $0.append(client) }
        }
    }

    private static func response(to request: [UInt8], at port: UInt16) -> [UInt8]? {
        do {
            guard let connection = try LoopbackSocket.connected(to: port),
                connection.send(request[...])
            else { return nil }
            return connection.receive()
        } catch {
            return nil
        }
    }

    /// Two sockets on successive ports.
    private static func neighbours() throws -> (LoopbackSocket, LoopbackSocket) {
        for _ in 0..<100 {
            let first = try LoopbackSocket.listening()
            do { return (first, try LoopbackSocket.listening(on: first.port + 1)) } catch {
                continue
            }
        }
        throw EmulatedTPM.Failure.notStarted
    }
}
