import CommandLineInterface
import Exports
import HTTPListener
import PostgreSQLStore
import ProcessConfinement
import SQLiteStore
import Verification
import WatchwordCryptography
import WatchwordSystem

/// Why a command failed: where, and the error of the part that failed.
enum ServerFailure: ProgramFailure {
    case usage(UsageError)
    /// Neither XDG_STATE_HOME nor HOME is set.
    case noHome
    case keyFile(String, KeyFile.Fault)
    case store(String, SQLiteStoreError)
    case postgreSQL(String, PostgreSQLStoreError)
    case endsFile(String, CheckpointFile.Fault)
    /// The database lacks events that this file records.
    case rolledBack(String)
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
    case verifier(VerifierError)
    case input(String, InputFileError)
    case export(String, ExportError)
    /// The reader of exports ended without an answer about this file.
    case lostExport(String, HelperLoss)
    case exportReader(HelperFailure)
    /// The file is an app's export, not a server's file.
    case notAServerFile(String, ExportFormat)
    /// The file does not name its user.
    case needsSubject(String)
    /// One user's name was given for a file with several keys.
    case severalSubjects(String)
    /// A file about trusted makers of authenticators or TPMs.
    case trustFile(String, TrustFileError)
    case tls(TLSIdentityError, certificate: String, key: String)
    /// The service would receive codes from the network without encryption.
    case plainHTTP(String)
    /// Health and metrics would be sent over the network without encryption.
    case plainOperations(String)
    case listener(String, ListenerFailure)
    /// The limit on open files leaves too few connections.
    case tooFewFiles(Int, needed: Int)
    case noSuchClient
    /// The client is revoked, which is final.
    case clientRevoked
    /// Another active client has this name.
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
    /// The output file already exists.
    case exists(String)
    case standardOutput(SystemCallFailure)
    case system(SystemCallFailure)
}

extension ServerFailure {
    static func report(on error: any Error) -> FailureReport {
        switch error {
        case let failure as ServerFailure:
            FailureReport(ServerMessages.sentence(for: failure), ExitCode(failure))
        case let error as UsageError: report(on: ServerFailure.usage(error))
        case let failure as SystemCallFailure: report(on: ServerFailure.system(failure))
        default: preconditionFailure("there is no sentence for \(type(of: error))")
        }
    }
}

extension ExitCode {
    init(_ failure: ServerFailure) {
        self =
            switch failure {
            case .usage, .noHome, .plainHTTP, .plainOperations, .passwordInArguments, .noCopies,
                .needsFile, .takesNoFile, .badClientName, .needsSubject, .severalSubjects:
                .usage
            case .noSuchClient, .clientRevoked, .clientNameTaken: .no
            case .keyFile(_, let error): ExitCode(error)
            case .store(_, let error): ExitCode(error)
            case .postgreSQL(_, let error): ExitCode(error)
            case .endsFile(_, .system), .endsFile(_, .busy): .system
            case .endsFile, .rolledBack, .conflictingKeys: .badInput
            case .tls, .trustFile, .exists, .notAList, .noCheckpoint, .export, .lostExport,
                .notAServerFile:
                .badInput
            case .untrustedClock: .system
            case .input(_, let error):
                if case .system = error { .system } else { .badInput }
            case .verifier, .listener, .tooFewFiles, .exportReader, .standardOutput, .system:
                .system
            }
    }

    private init(_ error: KeyFile.Fault) {
        self =
            switch error {
            case .lost, .unreadable, .content, .exposed: .badInput
            case .notReplaced, .system: .system
            }
    }

    private init(_ error: PostgreSQLStoreError) {
        self =
            switch error {
            case .unreachable, .store: .system
            default: .badInput
            }
    }

    private init(_ error: SQLiteStoreError) {
        self =
            switch error {
            case .system, .store, .busy: .system
            default: .badInput
            }
    }
}
