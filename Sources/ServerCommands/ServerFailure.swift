import Arguments
import Cryptography
import HTTPListener
import POSIX
import PostgreSQLStore
import SQLiteStore
import Verification

/// Why a verb did not do what it was asked: where, and what the failing part said.
enum ServerFailure: Error {
    case usage(UsageError)
    /// There is neither XDG_STATE_HOME nor HOME.
    case noHome
    case keyFile(String, KeyFileError)
    case store(String, SQLiteStoreError)
    case postgreSQL(String, PostgreSQLStoreError)
    case endsFile(String, EndsFileError)
    /// The database lacks events that this file says were there.
    case putBack(String)
    /// Keys of the key file have numbers under which other machines have other keys.
    case foreignKeys(String, [KeyID])
    /// A password stands on the command line.
    case spokenPassword
    /// What a verb can't do with a database that is no file.
    case noCopies
    /// What a verb needs for a database that is a file.
    case needsFile
    /// What a verb does not take for a database that is no file.
    case takesNoFile
    case verifier(VerifierError)
    case input(String, InputFileError)
    case tls(TLSIdentityError, certificate: String, key: String)
    /// The service would take codes from strangers' networks in the clear.
    case plainHTTP(String)
    /// Health and metrics would travel in the clear.
    case plainOperations(String)
    case listener(String, ListenerFailure)
    /// The system lets this process open so few files that there is no room for connections.
    case fewFiles(Int, needed: Int)
    case noSuchClient
    /// The client was revoked, which is final.
    case clientRevoked
    /// Another client that is not revoked has the name.
    case clientNameTaken
    /// A name that is too long, or that could be mistaken for an id.
    case badClientName
    /// Nothing vouches for the clock, which says this; or it is before this program was made, and nobody
    /// can vouch for it.
    case doubtfulClock(UnixTime, isPossible: Bool)
    /// A line of a list of credentials is none.
    case notAList(String, line: Int)
    /// There is no mark of an audit in the file, or one that is none.
    case noMarks(String)
    /// What should be written is there already.
    case exists(String)
    case standardOutput(SystemCallFailure)
    case system(SystemCallFailure)
}

/// Why there is no ring of keys to be had.
enum KeyFileError: Error, Hashable, Sendable {
    /// There is a database, so its keys were there and must come back.
    case lost
    case unreadable(PrivateFileError)
    case content(KeyRingError)
    case notReplaced(FileReplacementError)
    /// Others may write to its folder.
    case exposed
    case system(SystemCallFailure)
    /// Another process is changing it.
    case busy
}

/// What the exit status says; the same as the command's.
enum ServerExit: Int32, CaseIterable, Sendable {
    case done = 0
    case no = 1
    case usage = 2
    case badInput = 3
    case system = 6

    /// What the manual says of it.
    var meaning: String {
        switch self {
        case .done: "It is done."
        case .no:
            "The answer is no: there is no such client, it is revoked, a client has the name already, events were tampered "
                + "with, or a part can't be read."
        case .usage: "The program was called in a way it does not understand."
        case .badInput: "A file is missing, damaged, in the way, or open to others."
        case .system: "The system, the database or the network did not do its part."
        }
    }

    init(_ failure: ServerFailure) {
        self =
            switch failure {
            case .usage, .noHome, .plainHTTP, .plainOperations, .spokenPassword, .noCopies,
                .needsFile, .takesNoFile, .badClientName:
                .usage
            case .noSuchClient, .clientRevoked, .clientNameTaken: .no
            case .keyFile(_, let error): ServerExit(error)
            case .store(_, let error): ServerExit(error)
            case .postgreSQL(_, let error): ServerExit(error)
            case .endsFile(_, .system), .endsFile(_, .busy): .system
            case .endsFile, .putBack, .foreignKeys: .badInput
            case .tls, .exists, .notAList, .noMarks: .badInput
            case .doubtfulClock: .system
            case .input(_, let error):
                if case .system = error { .system } else { .badInput }
            case .verifier, .listener, .fewFiles, .standardOutput, .system: .system
            }
    }

    private init(_ error: KeyFileError) {
        self =
            switch error {
            case .lost, .unreadable, .content, .exposed: .badInput
            case .notReplaced, .system, .busy: .system
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
