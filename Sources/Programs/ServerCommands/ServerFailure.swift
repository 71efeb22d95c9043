import CommandLineInterface
import Courier
import Exports
import HTTPListener
import ProcessConfinement
import QRDrawing
import SQLStore
import Verification
import WatchwordCryptography
import WatchwordSystem

/// The reason why a command failed: the place and the underlying error.
///
/// Errors that need no place are thrown as they are; ``report(on:)`` lists them.
enum ServerFailure: ProgramFailure {
    /// Neither XDG_STATE_HOME nor HOME is set.
    case noHome
    case keyFile(String, KeyFile.Fault)
    case database(DatabaseURL, SQLStoreError)
    case endsFile(String, CheckpointFile.Fault)
    case settingsFile(String, SettingsFile.Fault)
    /// The database lacks events that this file records.
    case rolledBack(String)
    /// The last event in this file is not in the database.
    case otherEvents(String)
    /// The last line of the file for events is not an event.
    case notEvents(String)
    /// The journal of systemd rejected an event.
    case journal(SystemCallFailure)
    /// Other machines have different keys under these numbers.
    case conflictingKeys(String, [KeyID])
    /// The command line contains a password.
    case passwordInArguments
    /// The command cannot copy a PostgreSQL database.
    case noCopies
    /// The command needs a FILE for an SQLite database.
    case needsFile
    /// The command accepts no FILE for a PostgreSQL database.
    case takesNoFile
    case input(String, FileError)
    case export(String, ExportError)
    /// The reader of exports ended without an answer about this file.
    case lostExport(String, HelperLoss)
    /// The file is an app's export, not a server's file.
    case notAServerFile(String, ExportFormat)
    /// The file of a PAM module has the format of a different module.
    case otherFormat(String, ExportFormat)
    /// The file system does not answer.
    case slowFile(String)
    case needsRoot
    /// The file does not name its user.
    case needsSubject(String)
    /// One user's name was given for a file with several keys.
    case severalSubjects(String)
    /// A file about trusted makers of authenticators or TPMs.
    case trustFile(String, TrustFileError)
    case tls(TLSIdentityFault, certificate: String, key: String)
    /// The service would receive codes from the network without encryption.
    case plainHTTP(String)
    /// Health and metrics would be sent over the network without encryption.
    case plainOperations(String)
    case listener(String, ListenerFailure)
    /// A socket for programs on this machine, identified by its path or by the name under which it
    /// is passed.
    case socket(String, LocalSocketFault)
    /// This machine has no name that can be a realm.
    case noRealm
    /// The limit on open files leaves too few connections.
    case tooFewFiles(Int, needed: Int)
    case noSuchClient
    /// The client is permanently revoked.
    case clientRevoked
    /// A different active client has this name.
    case clientNameTaken
    /// The name is too long, or could be confused with an id.
    case badClientName
    /// The clock cannot be trusted. If it shows a time before the release of this program, the
    /// administrator cannot confirm it either.
    case untrustedClock(UnixTime, isPossible: Bool)
    /// A line of a list of credentials is not a credential id.
    case notAList(String, line: Int)
    /// The file contains no checkpoint, or an invalid one.
    case noCheckpoint(String)
    case exists(String)
    /// A question was not answered.
    case noAnswer(TerminalError)
    case standardOutput(SystemCallFailure)

    // The help desk.
    /// The file contains no API key.
    case notAnAPIKey(String)
    /// The request to this server got no response.
    case request(HTTPHelperFailure, at: ServerAddress)
    /// The request was refused by this server, or in this process.
    case problem(HelperResponse.Problem, at: ServerAddress?)
    /// The request failed in this process, with this cause.
    case failedHere(String)
    /// The response does not have the form that the route defines.
    case badResponse
    case noSuchSubject
    case noSuchCredential
    /// No credential of the subject is locked out.
    case nothingToUnlock
    /// The first code was wrong too many times.
    case notConfirmed
    case terminal(TerminalError)
}

extension ServerFailure {
    /// Every kind of error that a command throws, with its message and its exit status.
    static func report(on error: any Error) -> FailureReport {
        switch error {
        case let failure as ServerFailure:
            FailureReport(ServerMessages.sentence(for: failure), ExitCode(failure))
        case let error as UsageError:
            FailureReport(error.sentence(program: ServerVerb.program), .usage)
        case let error as VerifierError: FailureReport(ServerMessages.sentence(for: error), .system)
        case let failure as HelperFailure:
            FailureReport(
                HelperMessages.sentence(
                    forReader: failure, "watchword-exports", startedBy: ServerVerb.program),
                .system)
        case let failure as HTTPHelperFailure:
            FailureReport(
                ServerMessages.courier(at: nil).sentence(for: failure), ExitCode(failure))
        case let error as QRDrawingError:
            FailureReport(ServerMessages.sentence(for: error), .system)
        case let failure as SystemCallFailure:
            FailureReport(ServerMessages.sentence(for: failure), .system)
        default: FailureReport(unexpected: error)
        }
    }
}

extension ExitCode {
    init(_ failure: ServerFailure) {
        self =
            switch failure {
            case .noHome, .plainHTTP, .plainOperations, .passwordInArguments, .noCopies,
                .needsFile, .takesNoFile, .badClientName, .needsRoot, .needsSubject,
                .severalSubjects, .socket(_, .passed), .socket(_, .unknown), .noRealm, .noAnswer:
                .usage
            case .noSuchClient, .clientRevoked, .clientNameTaken, .noSuchSubject,
                .noSuchCredential, .nothingToUnlock, .notConfirmed:
                .no
            case .request(let failure, _): ExitCode(failure)
            case .problem(let problem, _): ExitCode(problem)
            case .notAnAPIKey: .badInput
            case .failedHere, .badResponse, .terminal: .system
            case .keyFile(_, let error): ExitCode(error)
            case .database(_, let error): ExitCode(error)
            case .endsFile(_, .system), .endsFile(_, .busy), .settingsFile(_, .notReplaced):
                .system
            case .endsFile, .settingsFile, .rolledBack, .otherEvents, .notEvents,
                .conflictingKeys:
                .badInput
            case .tls, .trustFile, .exists, .notAList, .noCheckpoint, .export, .lostExport,
                .notAServerFile, .otherFormat:
                .badInput
            case .untrustedClock: .system
            case .input(_, let error):
                if case .system = error { .system } else { .badInput }
            case .socket(_, .exposed): .badInput
            case .listener, .socket(_, .system), .tooFewFiles, .journal,
                .standardOutput, .slowFile:
                .system
            }
    }

    private init(_ problem: HelperResponse.Problem) {
        self =
            if problem.status == 404 { .no } else { problem.isTransient ? .system : .refused }
    }

    private init(_ error: KeyFile.Fault) {
        self =
            switch error {
            case .content(.keyRing(.notWritten)): .system
            case .content, .copied: .badInput
            }
    }

    private init(_ error: SQLStoreError) {
        self =
            switch error {
            case .unreachable, .system, .store, .busy: .system
            default: .badInput
            }
    }
}

/// Calls a function, and converts its error to a failure that names the place.
func naming<Result: ~Copyable, Failure: Error>(
    _ call: @autoclosure () throws(Failure) -> Result, _ failure: (Failure) -> ServerFailure
) throws -> Result {
    do { return try call() } catch { throw failure(error) }
}
