internal import Dispatch
internal import Foundation
internal import Synchronization

/// A TPM that relays the responses of an emulated TPM, spoils some of them, and records the commands.
public final class HostileTPM: Sendable {
    /// The defect of a spoiled response.
    public enum Fault: Sendable, Equatable {
        /// The bits of this byte, counted from the end, are inverted.
        case changed(fromEnd: Int)
        /// Only half of the response arrives.
        case truncated
        /// The response is noise.
        case noise
        /// The connection ends before the response.
        case ended
        /// The response never arrives.
        case silent
        /// The response is this error, and the command is not carried out.
        case refused(UInt32)
    }

    /// Which responses are spoiled.
    public enum Target: Sendable, Equatable {
        /// The response with this number, counted from 1.
        case position(Int)
        /// Each response to a command with this code (TPM 2.0 Library, Part 2, section 6.5.2).
        case command(UInt32)
        /// No response is spoiled.
        case none

        /// Each response to `TPM2_CreatePrimary`.
        public static let createPrimary = Target.command(0x131)
        /// Each response to `TPM2_Sign`.
        public static let sign = Target.command(0x15d)
    }

    /// A command and its honest response.
    public struct Exchange: Sendable {
        /// The bytes of the command.
        public let command: [UInt8]
        /// The TPM's response, before it was spoiled.
        public let response: [UInt8]
    }

    private struct State {
        var exchanges: [Exchange] = []
        /// The port of the TPM that answers.
        var port: UInt16
        /// The connections that wait for a response.
        var held: [LoopbackSocket] = []
    }

    private let commands: LoopbackSocket
    private let controls: LoopbackSocket
    private let state: Mutex<State>
    private let holding = DispatchSemaphore(value: 0)

    /// Spoils the response number `position`, counted from 1.
    public convenience init(_ tpm: EmulatedTPM, _ fault: Fault, at position: Int) throws {
        try self.init(tpm, fault, at: .position(position))
    }

    /// Spoils these responses; by default, none.
    public init(
        _ tpm: EmulatedTPM, _ fault: Fault = .ended, at target: Target = .none
    ) throws {
        (commands, controls) = try HostileTPM.neighbours()
        state = Mutex(State(port: tpm.port))
        Thread.detachNewThread { [commands, weak self] in
            while let client = commands.accepted() {
                guard let self, let request = client.receive() else { continue }
                self.answer(request, from: client, fault, target)
            }
        }
        Thread.detachNewThread { [controls, weak self] in
            while let client = controls.accepted() {
                guard let request = client.receive(), let self,
                    let response = HostileTPM.response(to: request, at: self.port + 1)
                else { continue }
                client.send(response[...])
            }
        }
    }

    deinit {
        commands.end()
        controls.end()
    }

    /// The commands so far, with their honest responses.
    public var exchanges: [Exchange] { state.withLock { $0.exchanges } }

    /// The number of commands so far.
    public var commandCount: Int { exchanges.count }

    /// Lets a different TPM answer from now on.
    public func exchange(for tpm: EmulatedTPM) { state.withLock { $0.port = tpm.port } }

    private var port: UInt16 { state.withLock { $0.port } }

    /// The TPM's address for `watchword --tpm`.
    public var address: String { "swtpm:host=127.0.0.1,port=\(commands.port)" }

    /// Waits until a client waits for the response that never arrives; `false` after a minute.
    public func waitUntilHolding() -> Bool { holding.wait(timeout: .now() + 60) == .success }

    private func answer(
        _ request: [UInt8], from client: LoopbackSocket, _ fault: Fault, _ target: Target
    ) {
        let command = Exchange(command: request, response: [])
        let isSpoiled =
            switch target {
            case .position(let position): commandCount + 1 == position
            case .command(let code): command.code == code
            case .none: false
            }
        if isSpoiled, case .refused(let code) = fault {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: code >> (24 - 8 * $0)) }
            client.send([0x80, 1, 0, 0, 0, 10] + bytes)
            return
        }
        guard let response = HostileTPM.response(to: request, at: port) else { return }
        state.withLock { state in
            state.exchanges.append(Exchange(command: request, response: response))
        }
        guard isSpoiled else {
            client.send(response[...])
            return
        }
        spoil(response, to: client, fault)
    }

    private func spoil(_ response: [UInt8], to client: LoopbackSocket, _ fault: Fault) {
        switch fault {
        case .changed(let position):
            var changed = response
            changed[max(changed.count - 1 - position, 0)] ^= 0xff
            client.send(changed[...])
        case .truncated: client.send(response.prefix(response.count / 2))
        case .noise:
            client.send([0x80, 2, 0, 0, 0, 40, 0, 0, 0, 0] + [UInt8](repeating: 0xff, count: 30))
        case .ended: client.end()
        case .silent:
            // The connection must stay open.
            state.withLock { $0.held.append(client) }
            holding.signal()
        case .refused: break
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

extension HostileTPM.Exchange {
    /// The command's code; 0 if it is cut off.
    public var code: UInt32 {
        guard command.count >= 10 else { return 0 }
        return command[6..<10].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
