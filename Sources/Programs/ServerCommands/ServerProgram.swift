import CommandLineInterface
import Synchronization
import Verification
import VerificationService
import WatchwordSystem

/// The program `watchword-server`.
public enum ServerProgram {
    /// Runs the program with the process's arguments and exits.
    @MainActor public static func main() async -> Never {
        let command = StartedCommand<ServerVerb, ServerFailure>.start()
        let session = ServerSession(arguments: command.arguments, printer: command.printer)
        do {
            try SystemInstallation.adoptSettings(session.arguments)
            command.finish(try await command.verb.run(session))
        } catch {
            command.fail(error)
        }
    }
}

/// One run of a command, with its arguments and output.
struct ServerSession: Sendable {
    let arguments: ServerArguments
    let printer: Printer<ServerFailure>

    var wantsJSON: Bool { arguments.has(.json) }

    /// The first operand; empty if there is none.
    var operand: String { arguments.operands.first ?? "" }
}

/// What opening a server's database and key file creates.
private enum Created {
    case nothing, database, databaseAndKeys

    init(before places: ServerPaths) throws {
        let hasKeys = FileStamp(of: places.keyFile) != nil
        // With existing keys, a PostgreSQL server is not asked at each start.
        let hasDatabase = try hasKeys && !places.database.isFile || places.database.isKnown()
        self = hasDatabase ? .nothing : hasKeys ? .database : .databaseAndKeys
    }
}

/// The store and the keys, and the verifier that uses both.
struct ServerContext: Sendable {
    let keys: KeyFile
    let store: any ServedDatabase
    let verifier: Verifier
    private let places: ServerPaths
    private let lastCheckpoint = CheckpointTime()
    private var created = Created.nothing

    init(
        keys: KeyFile, store: any ServedDatabase, verifier: Verifier, places: ServerPaths
    ) {
        self.keys = keys
        self.store = store
        self.verifier = verifier
        self.places = places
    }

    /// Opens the database and the key file.
    ///
    /// - Parameters:
    ///   - opened: the key file if it is already open, because the server's user may not be able to
    ///     open it again.
    ///   - making: whether to create what is missing.
    static func open(
        _ places: ServerPaths, _ opened: KeyFile? = nil, policy: Policy = .standard, making: Bool
    ) throws -> ServerContext {
        let created = making ? try Created(before: places) : .nothing
        let keys = try opened ?? KeyFile.opening(places, making: making)
        let store = try places.database.open(places, key: keys.ring().auditKey)
        let agreed = try RegisteredKeys(keys, store, places)
        let verifier = Verifier(store: store, policy: policy, clock: now, keys: { agreed.ring() })
        var context = ServerContext(keys: keys, store: store, verifier: verifier, places: places)
        context.created = created
        return context
    }

    /// The created files, their locations, and the next steps; empty if everything existed.
    var creation: [(String, String)] {
        let database = ("database", places.database.shown)
        return switch created {
        case .nothing: []
        case .database: [database, ("advice", ServerMessages.createdDatabase)]
        case .databaseAndKeys:
            [database, ("keys", places.keyFile), ("advice", ServerMessages.created)]
        }
    }

    /// Records the ends of the event chains outside the database.
    func writeCheckpoints() throws {
        try store.writeCheckpoints(places)
        lastCheckpoint.set(Self.now())
    }

    /// The state of the backups and checkpoints, for the metrics.
    var upkeep: Upkeep {
        var upkeep = Upkeep()
        upkeep.lastBackup = places.lastBackup
        upkeep.lastCheckpoint = lastCheckpoint.value
        upkeep.hasTrouble = store.problem != nil
        return upkeep
    }

    /// Finishes pending work and closes the database.
    func close() {
        // If this fails, the previously recorded ends are still valid, only older.
        do { try writeCheckpoints() } catch {}
        store.close()
    }

    /// The wall clock, or the clock of the tests.
    @Sendable static func now() -> UnixTime {
        if let clock = TestClock.current { return clock.now }
        return UnixTime(milliseconds: SystemClock.unixMilliseconds())
    }
}

/// The time when the ends of the event chains were last recorded; initially, when the database was
/// opened.
private final class CheckpointTime: Sendable {
    private let time = Mutex(ServerContext.now())
    var value: UnixTime { time.withLock { $0 } }
    func set(_ now: UnixTime) { time.withLock { $0 = now } }
}
