import Foundation
import HTTPListener
import PostgreSQLStore
import ServerCommands
import ServiceTranscripts
import StoreContract
import Verification
import VerificationService
import WatchwordSystem

/// A server with a clock that the test controls through a file.
///
///     service-process URL CLOCK
///
/// Serves the database at URL, with the test keys, on a port of 127.0.0.1 that it prints. It stops
/// when it reads a line from standard input or the input ends. CLOCK contains the time in Unix
/// milliseconds and may be replaced at any time.
@main
struct Program {
    enum Failure: Error { case badCall }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let address = PostgreSQLAddress(arguments[1]) else {
            throw Failure.badCall
        }
        let clock = FileClock(path: arguments[2])
        let keys = StoreKeys.known
        let store = try PostgreSQLVerificationStore(
            connecting: address, key: keys.auditKey,
            connections: PostgreSQLVerificationStore.Connections(timeout: .seconds(20)))
        let verifier = Verifier(store: store, keys: keys, clock: { clock.now })
        let start = ContinuousClock.now
        let epoch = clock.now.milliseconds
        var settings = ServiceSettings(clock: ClockRequirement(profile: .wide))
        settings.pages = PageSettings()
        settings.passkeys = try .forTests()
        settings.audiences = ["https://login.example"]
        var dependencies = ServiceDependencies(
            now: { clock.now }, clockState: { .synchronized(maximumError: 1) }, log: { _ in })
        dependencies.instant = { start + .milliseconds(clock.now.milliseconds - epoch) }
        let service = Service(
            verifier: verifier, settings: settings, dependencies: dependencies)
        let listener = try Listener.start(
            on: ListenAddress(loopbackPort: 0), tls: nil,
            refuser: service.refuse, handler: service.respond)
        try StandardStream.output.write(Array("\(listener.address.port)\n".utf8).span)
        _ = readLine()
        _ = await listener.stop(grace: .seconds(60))
        store.close()
    }
}

/// A clock that reads a file.
struct FileClock: Sendable {
    let path: String

    /// Without a valid file, the time is 0, which no transcript accepts.
    var now: UnixTime {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return UnixTime(milliseconds: Int64(text) ?? 0)
    }
}
