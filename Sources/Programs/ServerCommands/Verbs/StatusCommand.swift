import CommandLineInterface
import HTTPListener
import Verification
import VerificationService
import WatchwordCoding
import WatchwordSystem

/// `status`: prints one line: the server is ready, or the reason why not.
enum StatusCommand {
    static func run(_ session: ServerSession) throws -> ExitCode {
        let address = try ServingSettings.operations(session.arguments)
        let status =
            try ServerStatus.asking(address) ?? .stopped(obstacle(session.arguments))
        if session.wantsJSON {
            try session.printer.line(.object(facts(status)))
        } else {
            try session.printer.line(
                ServerMessages.sentence(for: status, at: address).visibleOnTerminal)
        }
        if case .ready = status { return .done }
        return .no
    }

    private static func facts(_ status: ServerStatus) -> [(String, JSONValue)] {
        switch status {
        case .ready: [("state", .text("ready"))]
        case .notReady(let cause, let advice):
            [("state", .text("not-ready")), ("cause", .text(cause)), ("advice", .text(advice))]
        case .stopped(let obstacle):
            [("state", .text("stopped")), ("obstacle", obstacle.map { .text($0) } ?? .null)]
        case .unclear: [("state", .text("unclear"))]
        }
    }

    /// The problem that would prevent a server from becoming ready; `nil` if none was found.
    private static func obstacle(_ arguments: ServerArguments) -> String? {
        // Only root can read the files of an installed server.
        guard SystemInstallation.isMeant || !SystemInstallation.isMeantForRoot else {
            return ServerMessages.statusNeedsRoot
        }
        do {
            let places = try ServerPaths(arguments)
            guard try places.areInUse() else { return ServerMessages.notSetUp }
            let settings = try ServingSettings(
                arguments.accepting(ServerVerb.serving), now: SystemClock.unixTime())
            let keys = try KeyFile.opening(places, making: false)
            // Opening would create an SQLite database.
            let exists = try places.database.isKnown()
            if exists { try places.database.open(places, key: keys.ring().auditKey).close() }
            return settings.settings.clock.obstacle(now: ServerContext.now(), state: .current())
                .map { ServerMessages.advice(for: $0) }
                ?? (exists ? nil : ServerMessages.noDatabase)
        } catch {
            return ServerFailure.report(on: error).sentence
        }
    }
}

/// Whether a server is ready.
enum ServerStatus: Hashable {
    case ready
    case notReady(cause: String, advice: String)
    /// No process listens; the associated value is the problem that would prevent a server from
    /// becoming ready, if one was found.
    case stopped(String?)
    /// A process listens, but does not answer as a server does.
    case unclear

    /// A server answers within a few seconds, even if its database does not.
    private static let timeout = Duration.seconds(15)
    private static let limit = 4_096

    /// Asks the server that listens at `address` for health checks; `nil` if no process listens
    /// there.
    ///
    /// A connection to 0.0.0.0 or :: leads to this machine.
    static func asking(_ address: ListenAddress) throws -> ServerStatus? {
        switch OutgoingConnection.open(
            host: address.host, port: address.port, loopbackOnly: false, timeout: timeout)
        {
        case .connected(let connection):
            // The response to a request of HTTP 1.0 ends with the connection.
            let request = Array("GET /readyz HTTP/1.0\r\n\r\n".utf8)
            do throws(SystemCallFailure) {
                let response = try OutgoingConnection.exchange(
                    request.span, over: connection, limit: limit, timeout: timeout)
                return ServerStatus(response: String(decoding: response, as: UTF8.self))
            } catch {
                return .unclear
            }
        case .unreachable(let failure) where failure.isNobodyListening: return nil
        case .unreachable(let failure): throw failure
        case .failed(let failure): throw failure
        // These cases cannot occur, because the host is an address and every address is allowed.
        case .unknownHost: return .unclear
        case .notLoopback: return .unclear
        case .timedOut: return .unclear
        }
    }

    /// Reads the server's response to `GET /readyz`.
    init(response: String) {
        let parts = response.split(separator: "\r\n\r\n", maxSplits: 1)
        let lines = (parts.last ?? "").split(separator: "\n").map(String.init)
        switch (parts.first?.split(separator: " ").dropFirst().first, lines.count) {
        case ("200", 1) where lines[0] == "ready": self = .ready
        case ("503", 2): self = .notReady(cause: lines[0], advice: lines[1])
        default: self = .unclear
        }
    }
}
