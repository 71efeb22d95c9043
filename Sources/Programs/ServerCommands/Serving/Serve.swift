import CommandLineInterface
import HTTPListener
import LocalEnrolment
import LocalSockets
import SQLStore
import Synchronization
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `serve`: runs the server until it receives a signal.
enum Serve {
    /// The time limit for requests in progress after TERM.
    private static let grace = Duration.seconds(30)
    /// The interval at which expired data is deleted.
    private static let interval = Duration.seconds(60)

    /// Runs on the main thread, which then only waits for signals.
    @MainActor static func run(_ session: ServerSession) async throws -> ExitCode {
        let log = ServerLog()
        do { try await run(session, log: log) } catch {
            await log.close()
            throw error
        }
        await log.close()
        return .done
    }

    @MainActor private static func run(
        _ session: ServerSession, log: ServerLog
    ) async throws {
        let arguments = session.arguments
        // Block the signals before other threads exist, so that those threads inherit the mask.
        // Swift's own threads never receive these signals.
        let signals = try SignalQueue([.terminate, .interrupt, .hangUp])
        let settings = try ServingSettings(arguments, now: SystemClock.unixTime())
        let room = try ConnectionLimit(local: settings.sockets.connections)
        var endpoints = try settings.sockets.open()
        let notices = ServiceNotices(log: log)
        let context = try openContext(session, settings.policy, log)
        var dependencies = ServiceDependencies(
            now: ServerContext.now, clockState: ClockState.current,
            log: { log.write($0.rendered()) })
        dependencies.advice = { ServerMessages.advice(for: $0) }
        dependencies.readinessChanged = { note($0, in: log) }
        dependencies.upkeep = { context.upkeep }
        dependencies.sprayingNoticed = {
            log.say("spraying", [("advice", ServerMessages.spraying)])
        }
        let service = Service(
            verifier: context.verifier, settings: settings.settings, dependencies: dependencies)
        let desk = settings.sockets.realm.map { realm in
            OwnEnrolment(arguments).desk(
                context.verifier, realm: realm, limiter: service.ownAttempts, log: log)
        }
        let ends = try keepCheckpoints(context, log)
        let proxies = settings.settings.trustedProxies
        let main = try listen(
            on: settings.service, tls: settings.tls,
            ListenerLimits(connections: room.service, proxies: proxies), service,
            handler: service.respond)
        let operations: Listener
        do {
            operations = try listen(
                on: settings.operations, tls: nil,
                ListenerLimits(connections: ConnectionLimit.operations, proxies: .none), service,
                handler: service.respondToOperator)
        } catch {
            _ = await main.stop(grace: .zero)
            throw error
        }
        let local: LocalListener?
        do { local = try listen(on: endpoints, service, desk) } catch {
            for listener in [main, operations] { _ = await listener.stop(grace: .zero) }
            throw error
        }
        // The listener closes these files when it stops.
        endpoints = [:]
        log.say(
            "listening",
            [
                ("service", main.address.text), ("tls", settings.tls == nil ? "no" : "yes"),
                ("operations", operations.address.text), ("connections", "\(room.service)"),
            ] + settings.sockets.facts + context.creation)
        if room.isShort {
            log.say("few-connections", [("cause", ServerMessages.shortage(of: room))])
        }
        let watch = ReadinessWatch(
            service: service, clock: settings.settings.clock, notices: notices, log: log)
        let watching = Task.detached { await watch.run() }
        let housekeeper = Task.detached {
            await runHousekeeping(context, service, settings, log)
        }
        try wait(signals) { replaceCertificate(of: main, arguments, log) }
        notices.send(["STOPPING=1", "STATUS=stopping"])
        try await stop(signals, [main, operations], local, desk, log)
        watching.cancel()
        housekeeper.cancel()
        await watching.value
        await housekeeper.value
        await writeDenials(context, log, atEnd: true)
        service.logCountedRefusals(atEnd: true)
        ends.stop()
        context.close()
        log.say("stopped", [])
    }

    /// Opens the database and the keys, or creates them in memory for an application's tests.
    ///
    /// It does not suspend: afterwards, the main thread would no longer be the one that waits for
    /// signals.
    private static func openContext(
        _ session: ServerSession, _ policy: Policy, _ log: ServerLog
    ) throws -> ServerContext {
        let places = try ServerPaths(session.arguments)
        guard try TestClock.install(session.arguments) else {
            return try ServerContext.open(places, policy: policy, making: true)
        }
        let (context, key) = try ServerContext.inMemory(places, policy: policy)
        try session.printer.line(key)
        try session.printer.flush()
        log.say("test-clock", [("advice", ServerMessages.testClock)])
        return context
    }

    private static func listen(
        on address: ListenAddress, tls: TLSIdentity?, _ limits: ListenerLimits, _ service: Service,
        handler: @escaping Listener.Handler
    ) throws -> Listener {
        try naming(
            Listener.start(
                on: address, tls: tls, limits: limits, refuser: service.refuse, handler: handler)
        ) { .listener(address.text, $0) }
    }

    /// Waits for a signal that stops the server, and calls `reload` for each HUP before it.
    @MainActor private static func wait(
        _ signals: borrowing SignalQueue, reload: () -> Void
    ) throws {
        while true {
            switch try signals.next() {
            case nil: try signals.wait(timeout: nil)
            case .hangUp?: reload()
            default: return
            }
        }
    }

    /// Reads the certificate and its key again; if they are unusable, the old ones stay in use.
    private static func replaceCertificate(
        of listener: Listener, _ arguments: ServerArguments, _ log: ServerLog
    ) {
        do {
            let identity = try ServingSettings.identity(arguments, now: SystemClock.unixTime())
            guard let identity else { return log.say("nothing-to-reload", []) }
            try naming(listener.replace(tls: identity)) { .listener(listener.address.text, $0) }
            log.say("certificate-replaced", [])
        } catch {
            log.say("certificate-kept", [("cause", ServerFailure.report(on: error).sentence)])
        }
    }

    /// Stops the listeners; a second signal other than HUP ends the process at once.
    @MainActor private static func stop(
        _ signals: borrowing SignalQueue, _ listeners: [Listener], _ local: LocalListener?,
        _ desk: EnrolmentDesk?, _ log: ServerLog
    ) async throws {
        log.say("stopping", [])
        let stopping = Stopping()
        Task.detached {
            // Stop the listeners concurrently, because a service manager does not wait for long.
            let areDone = await withTaskGroup(of: Bool.self) { group in
                if let local { group.addTask { await local.stop(grace: grace) } }
                if let desk { group.addTask { await desk.stop(grace: grace) } }
                group.addTask {
                    var isDone = true
                    for listener in listeners {
                        isDone = await listener.stop(grace: grace) && isDone
                    }
                    return isDone
                }
                return await group.reduce(true) { $0 && $1 }
            }
            stopping.finish(areDone)
        }
        while stopping.outcome == nil {
            switch try signals.next() {
            case nil, .hangUp?: break
            default: ProcessEnd.atOnce(with: 1)
            }
            try signals.wait(timeout: .milliseconds(20))
        }
        if stopping.outcome == false { log.say("gave-up-waiting", []) }
    }

    private static func runHousekeeping(
        _ context: ServerContext, _ service: Service, _ settings: ServingSettings, _ log: ServerLog
    ) async {
        let clock = settings.settings.clock
        var housekeeping = Housekeeping(
            store: context.store, key: context.keys.ring().auditKey,
            eventLifetime: settings.eventLifetime, now: ServerContext.now,
            complaint: { now in clock.complaint(now: now, state: .current())?.rawValue },
            say: { event, facts in log.say(event, facts) }, realm: settings.sockets.realm)
        var problem: String?
        while true {
            // This also runs at startup, because a server may be restarted before the interval
            // ends.
            await housekeeping.tidy()
            await writeDenials(context, log, atEnd: false)
            service.logCountedRefusals()
            let found = context.store.problem
            if found != problem { log.say("database-trouble", [("cause", found ?? "over")]) }
            problem = found
            // Cancelling the task ends the sleep.
            do { try await Task.sleep(for: interval) } catch { return }
        }
    }

    private static func writeDenials(_ context: ServerContext, _ log: ServerLog, atEnd: Bool) async
    {
        do throws(VerifierError) {
            try await context.verifier.writeCountedDenials(atEnd: atEnd)
        } catch {
            log.say("denials-not-written", [("cause", ServerMessages.sentence(for: error))])
        }
    }

    private static func keepCheckpoints(
        _ context: ServerContext, _ log: ServerLog
    ) throws -> CheckpointRecorder {
        let keeper = CheckpointRecorder {
            do { try context.writeCheckpoints() } catch {
                log.say("mark-not-kept", [("cause", ServerFailure.report(on: error).sentence)])
            }
        }
        guard let keeper else {
            throw VerifierError.store(.noThread)
        }
        context.store.onCheckpointChange(by: CheckpointRecorder.events) { keeper.ask() }
        return keeper
    }

    /// Logs the reason and the remedy if the server is not ready, or that the server is ready
    /// again.
    private static func note(_ failure: ReadinessFailure?, in log: ServerLog) {
        guard let failure else { return log.say("ready-again", []) }
        log.say(
            "not-ready",
            [("cause", failure.cause), ("advice", ServerMessages.advice(for: failure))])
    }
}

/// The result of stopping the listeners, once it is known.
private final class Stopping: Sendable {
    private let value = Mutex<Bool?>(nil)
    var outcome: Bool? { value.withLock { $0 } }
    func finish(_ areDone: Bool) { value.withLock { $0 = areDone } }
}

/// Writes JSON lines to standard error.
///
/// Requests never wait for the process that reads the log.
final class ServerLog: Sendable {
    /// The lines waiting to be written.
    private final class Lines: Sendable {
        private let lines = Mutex<[SecretBytes]>([])

        /// Returns whether the queue was empty.
        func append(_ line: SecretBytes) -> Bool {
            lines.withLock { lines in
                guard lines.count < ServerLog.capacity else { return false }
                lines.append(line)
                return lines.count == 1
            }
        }

        func take() -> [SecretBytes] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    private let lines: Lines
    private let wakenings: AsyncStream<Void>.Continuation
    private let writer: Task<Void, Never>

    /// The maximum number of waiting lines; if no process reads them, later lines are lost.
    private static let capacity = 10_000

    init() {
        let (stream, wakenings) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wakenings = wakenings
        let lines = Lines()
        self.lines = lines
        writer = Task.detached {
            for await _ in stream {
                ServerLog.join(lines.take()).withBytes { lines in
                    // If standard error fails, the failure cannot be reported anywhere.
                    do { try StandardStream.error.write(lines) } catch _ {}
                }
            }
        }
    }

    /// Queues a line, which includes its line feed.
    func write(_ line: SecretBytes) { if lines.append(line) { wakenings.yield() } }

    /// Logs an event of the server itself; it contains no text from a request.
    func say(_ event: String, _ facts: [(String, String)]) {
        let facts = facts.map { ($0.0, JSONValue.text($0.1)) }
        write(
            JSONValue.object(
                [("time", .text(ServerContext.now().text)), ("event", .text(event))] + facts
            ).renderedLine())
    }

    /// Waits until all queued lines have been written.
    func close() async {
        wakenings.finish()
        await writer.value
    }

    /// Joins the lines, so that under load one system call writes many.
    private static func join(_ lines: [SecretBytes]) -> SecretBytes {
        SecretBytes(capacity: lines.reduce(0) { $0 + $1.count }) { output in
            for line in lines { line.withBytes { output.append(copying: $0) } }
        }
    }
}
