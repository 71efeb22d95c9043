import CommandLineInterface
import Exports
import HTTPListener
import LocalSockets
import OneTimePassword
import Verification
import VerificationService
import WatchwordCryptography
import WatchwordSystem

/// The error messages; none contains a secret.
enum ServerMessages {
    /// The path of the document for administrators: in this installation, or where the package puts
    /// it.
    static var operations: String {
        let folder = RunningProgram.folder() ?? ""
        let prefix = folder.hasSuffix("/bin") ? String(folder.dropLast(4)) : "/usr"
        return "\(prefix)/share/doc/watchword-server/Operations.md"
    }

    static func sentence(for failure: ServerFailure) -> String {
        switch failure {
        case .noHome: "neither HOME nor XDG_STATE_HOME is set; use --store and --keys"
        case .keyFile(let path, let error): "\(path): " + sentence(for: error)
        case .database(let database, let error):
            "\(database.shown): " + sentence(for: error, in: database)
        case .endsFile(let path, let error): "\(path): " + sentence(for: error)
        case .settingsFile(let path, let error): "\(path): " + sentence(for: error)
        case .rolledBack(let path):
            "the database lacks events that \(path) records: the database was replaced by an older state, in "
                + "which spent codes would be valid again. Run watchword-server restore; if you have done so "
                + "on a different machine, remove the file"
        case .otherEvents(let path):
            "\(path): the last event is not in the database: the file belongs to a different database, or "
                + "the database was replaced by an older state; run watchword-server restore, or move the "
                + "file away to begin with the oldest event"
        case .notEvents(let path):
            "\(path): the last line is not an event, and this command appends events; specify a different file"
        case .journal(let failure):
            "the journal of systemd does not accept events: \(sentence(for: failure)); without systemd, "
                + "use --output FILE"
        case .conflictingKeys(let path, let keys):
            "\(path): other machines have a different key \(keys.map { String($0.number) }.joined(separator: ", ")); "
                + "all machines need the same key file"
        case .passwordInArguments:
            "every user of this machine can read a password on the command line; use WATCHWORD_STORE or "
                + "PGPASSFILE"
        case .noCopies:
            "backup does not copy PostgreSQL databases; use pg_dump or a similar tool, and keep the key "
                + "file in a different place: anybody who has both can compute every code"
        case .needsFile: "FILE is missing; see --help"
        case .takesNoFile:
            "restore takes no FILE for a PostgreSQL database; restore the copy with pg_restore first, then "
                + "run this command without FILE"
        case .input(let path, let error): "\(path): " + sentence(forInput: error)
        case .export(let path, let error): "\(path): " + sentence(for: error)
        case .lostExport(let path, let loss):
            "\(path): "
                + HelperMessages.sentence(for: loss, file: "file", reader: "export reader")
        case .notAServerFile(let path, let format):
            "\(path): not a server's file (\(format.name)); specify an OATH users file, or a "
                + "google-authenticator or PSKC file"
        case .otherFormat(let path, let format):
            "\(path): \(ExportMessages.noun(for: format)), which is not expected there"
        case .slowFile(let path):
            "\(path): the file system does not respond; nothing was imported; run the command again "
                + "when the file system responds"
        case .needsRoot:
            "only root can read the files of all users; run the command with sudo"
        case .needsSubject(let path): "\(path): the file does not name its user; use --subject NAME"
        case .severalSubjects(let path):
            "\(path): the file has several keys, but --subject names one user; import it without "
                + "--subject"
        case .trustFile(let path, .noCertificates):
            "\(path): the file contains no PEM certificate, or a damaged one"
        case .trustFile(let path, .notAList):
            "\(path): not a JSON list of authenticators; see \(operations)"
        case .trustFile(let path, .element(let number)):
            "\(path): element \(number) needs an aaguid that occurs once and a name, and may have "
                + "roots; see \(operations)"
        case .tls(let error, let certificate, let key):
            sentence(for: error, certificate: certificate, key: key)
        case .plainHTTP(let address):
            "\(address) is reachable from other machines, and codes would travel in the clear; use "
                + "--tls-certificate and --tls-key, or --insecure-http if a proxy terminates TLS"
        case .plainOperations(let address):
            "\(address) is reachable from other machines, and the listener for health and metrics has no "
                + "TLS; use --ops-listen with 127.0.0.1, or --insecure-http if a proxy terminates TLS"
        case .listener(let address, let failure): "\(address): " + sentence(for: failure)
        case .socket(let name, let fault): "\(name): " + sentence(for: fault)
        case .noRealm:
            "this machine has no name that can be a realm; use --realm with a name of lower-case "
                + "letters, digits, dots and dashes"
        case .tooFewFiles(let files, let needed):
            "the limit on open files is \(files), and each connection needs one; raise it to at least "
                + "\(needed) (ulimit -n, or LimitNOFILE= in the unit)"
        case .noSuchClient: "no such client; see watchword-server client list"
        case .clientRevoked:
            "this client is revoked permanently; create a new one with watchword-server client add"
        case .clientNameTaken:
            "a client with this name exists; choose a different name, or run watchword-server client renew "
                + "for a new key of that client"
        case .badClientName:
            "a client's name must have at most \(ClientRow.maximumNameCount) bytes and must "
                + "not begin with cl_, the prefix of ids"
        case .untrustedClock(let now, isPossible: false):
            "this machine's clock shows \(now.text), which is before the release of this program; "
                + "set the clock"
        case .untrustedClock(let now, isPossible: true):
            "this machine's clock shows \(now.text), but the kernel does not report it as "
                + "synchronised; restore "
                + "needs the correct time to refuse spent codes. Synchronise the clock, or check "
                + "it yourself and use --clock-is-right"
        case .notAList(let path, let line):
            "\(path): line \(line) is not a credential id (cr_…)"
        case .noCheckpoint(let path):
            "\(path): the file contains no complete checkpoint; specify a file with the unchanged output of "
                + "watchword-server audit verify"
        case .exists(let path):
            "\(path): the file already exists; choose a different name, or move it away"
        case .noAnswer:
            "a question got no valid answer; use options instead, see watchword-server init --help"
        case .standardOutput(let failure): "standard output: " + sentence(for: failure)
        case .notAnAPIKey(let path):
            "\(path): the first line is not an API key; see watchword-server client add --help"
        case .request(let failure, let server): courier(at: server).sentence(for: failure)
        case .problem(let problem, let server): sentence(for: problem, at: server)
        case .failedHere(let cause): "the request failed (\(cause))"
        case .badResponse:
            "the response is invalid; check that --server is the address of a Watchword server"
        case .noSuchSubject: "the subject has no credentials; see watchword-server subject list"
        case .noSuchCredential:
            "the subject has no such credential; see watchword-server subject show"
        case .nothingToUnlock: "no credential of the subject is locked out"
        case .notConfirmed:
            "the first code was wrong too many times, and the key is not active; run watchword-server subject enrol "
                + "again for a new key"
        case .terminal(let error): sentence(for: error)
        }
    }

    static func renamed(_ realm: Realm) -> String {
        "no account of the realm \(realm.text) has a second factor, but accounts of other realms have one; "
            + "if this machine was renamed, set WATCHWORD_REALM to the earlier name: otherwise, a PAM "
            + "module with nullok lets everybody in without a code"
    }

    static func shortage(of room: ConnectionLimit) -> String {
        "the limit on open files is \(room.files), and each connection needs one; the server accepts "
            + "\(room.service) connections instead of \(ConnectionLimit.most); raise the limit "
            + "(ulimit -n, or LimitNOFILE= in the unit)"
    }

    static func sentence(for failure: SystemCallFailure) -> String {
        HelperMessages.sentence(for: failure)
    }

    private static func sentence(for failure: ListenerFailure) -> String {
        switch failure {
        case .system(let call, let number):
            sentence(for: SystemCallFailure(call: call, number: number))
        case .notStarted: "libmicrohttpd could not start; check the type of the TLS certificate"
        case .earlierCertificatesInUse(let count):
            "open connections still use \(count) earlier certificates, which is the maximum; "
                + "reload again in a minute"
        }
    }

    private static func sentence(for fault: LocalSocketFault) -> String {
        switch fault {
        case .passed:
            "the service manager passes this socket already; remove the option, or disable the "
                + "socket unit"
        case .unknown:
            "the service manager passes a socket whose name is not pam, self or enrol, or two sockets with "
                + "the same name; see FileDescriptorName= in the socket units"
        case .exposed:
            "other users can write to the directory and replace the socket; choose a directory that only "
                + "root or this user can write to"
        case .system(let failure) where failure.isAddressInUse:
            "a different server listens here, or a file has this name"
        case .system(let failure): sentence(for: failure)
        }
    }

    private static func sentence(
        for error: TLSIdentityFault, certificate: String, key: String
    ) -> String {
        switch error {
        case .noCertificate: "\(certificate): the file contains no PEM certificate"
        case .noKey: "\(key): the file contains no PEM private key, or the key has a passphrase"
        case .mismatched: "\(key): the key does not match the certificate \(certificate)"
        case .notYetValid:
            "\(certificate): the certificate is not valid yet; check the clock"
        case .expired: "\(certificate): the certificate has expired"
        }
    }

    /// The sentence for a file that an option specifies.
    static func sentence(forInput error: FileError) -> String {
        switch error {
        case .missing: "no such file"
        case .noFolder: "its directory does not exist"
        case .forbidden: "permission denied"
        case .empty: "the file is empty"
        case .tooLarge(let limit): "the file exceeds \(limit) bytes"
        case .symbolicLink: "the file is a symbolic link, which is not followed"
        case .otherOwner(let user): "the file belongs to another user (ID \(user))"
        case .system(let failure): sentence(for: failure)
        default: "not a readable file"
        }
    }
}

// Imports of other servers' files.
extension ServerMessages {
    static func sentence(for error: ExportError) -> String {
        switch error {
        case .unknownFormat, .notJSON, .passwordNeeded(nil), .wrongPassword(nil),
            .unreadable(_, .unknownMembers), .unreadable(_, .unknownColumns):
            "neither an OATH users file nor a google-authenticator or PSKC file"
        case .passwordNeeded(.some):
            "the file is encrypted; use --export-password-file with its password, or with its key in "
                + "hexadecimal digits"
        case .wrongPassword(.some): "wrong password or key, or the file is damaged"
        default: ExportMessages(command: "watchword-server import").sentence(for: error)
        }
    }

    static func sentence(for reason: ImportRow.Refusal) -> String {
        switch reason {
        case .noKey: "it has no key"
        case .badKey: "its key is not in the expected encoding"
        case .keyTooShort:
            "its key has fewer than 128 bits; --allow-short-keys accepts 80 bits or more"
        case .keyTooLong: "its key has more than \(OneTimePasswordEnrolment.maximumKeyCount) bytes"
        case .unknownType: "it is not a TOTP or HOTP key that the server can verify"
        case .unknownAlgorithm: "its algorithm is not SHA-1, SHA-256 or SHA-512"
        case .badDigits: "its codes do not have 6 to 8 digits"
        case .badPeriod: "its time step is not 1 to 120 seconds"
        case .badCounter: "its counter is out of range, or has reached its maximum"
        case .malformed: "a value is missing or malformed"
        case .noSubject: "it names no user; use --subject"
        case .badSubject:
            "its user's name has more than \(Subject.maximumCount) bytes, or a NUL character"
        case .keyInUse: "a different credential has or had this key; enrol the user again"
        case .alreadyEnrolled:
            "the user has or had a second factor, and any program of the user could have written this "
                + "file; if the key is the user's own, import the file with import FILE"
        case .tooManyCredentials: "the user has too many credentials; revoke one first"
        case .usedInFuture:
            "its last code is ahead of this machine's clock; check the clock, and try again later"
        }
    }
}

// Messages of `init` and `status`.
extension ServerMessages {
    static func clientIsThere(named name: String) -> String {
        "The client \(name) exists already and was not changed; for a new API key, run watchword-server client "
            + "renew \(name)"
    }

    /// The steps after `init`.
    static func nextSteps(keys: String, settings: String?) -> [String] {
        let start =
            switch settings {
            case nil: "Start the server: watchword-server serve"
            case SystemInstallation.settingsFile?:
                "Start the server: systemctl restart watchword-server && watchword-server status"
            case let path?: "Start the service that reads \(path) (EnvironmentFile= in systemd)"
            }
        return [
            start,
            "Enrol the first user: watchword-server subject enrol NAME (NAME is the application's name for the "
                + "user; for logins on this machine, it is unix:REALM:ACCOUNT)",
            "Copy \(keys) to a safe place, apart from the backups of the database: without the key file, the "
                + "backups are useless, and anybody who has both can compute every code.",
        ]
    }

    static let notSetUp = "there are no keys and no database yet; run watchword-server init"
    static let noDatabase =
        "there are keys, but no database, so serve would create an empty one; if users were enrolled before, "
        + "restore a backup first (watchword-server restore)"
    static let statusNeedsRoot = "to see why, run this command as root"

    static func sentence(for status: ServerStatus, at address: ListenAddress) -> String {
        switch status {
        case .ready: "The server at \(address.text) is ready."
        case .notReady(let cause, let advice):
            "The server at \(address.text) is not ready (\(cause)): \(advice)"
        case .stopped(let obstacle?): "No server answers at \(address.text): \(obstacle)"
        case .stopped(nil):
            "No server answers at \(address.text), although its settings, keys, database and clock are in "
                + "order: start it, or look at its log"
        case .unclear:
            "The process at \(address.text) does not answer as a server does: if it is the server, look at "
                + "its log, and restart it"
        }
    }
}

// Remedies if `/readyz` fails, or if somebody guesses codes.
extension ServerMessages {
    static let spraying =
        "codes are denied for many subjects, perhaps because somebody tries passwords and codes: look "
        + "at the addresses in the application's log, and limit attempts there"

    static let testClock =
        "this server is for tests: its time comes from a file, and its keys and its store end with it; "
        + "run serve without --test-clock for anything else"

    static let unconfirmedClock =
        "the kernel does not report to this container that its clock is synchronised: synchronise the "
        + "host's clock; the server deletes nothing that has expired until the kernel reports it, or "
        + "until you vouch for the clock with --no-clock-check"

    static func advice(for failure: ReadinessFailure) -> String {
        switch failure {
        case .clock(let complaint): advice(for: complaint)
        case .verifier(let error): advice(for: error)
        }
    }

    static func advice(for complaint: ClockProblem) -> String {
        switch complaint {
        case .beforeBuild: "set the clock: it shows a time before the release of this program"
        case .unsynchronized, .tooInaccurate:
            "synchronise the clock, for example with chrony or systemd-timesyncd; use "
                + "--no-clock-check only if the host of this virtual machine synchronises it"
        case .unknown:
            "allow the server to call adjtimex (ProtectClock= in the unit blocks it); use "
                + "--no-clock-check only if the host of this virtual machine synchronises the clock"
        }
    }

    private static func advice(for error: VerifierError) -> String {
        switch error {
        case .store(let failure): advice(for: failure)
        case .keyMissing(let id): "install a key file that contains key \(id.number)"
        case .contended, .overloaded, .tooManyDenials, .tooManyChallenges:
            "wait; if the overload persists, add processors or servers"
        case .cryptography: "check that memory is available, and restart the server"
        case .damagedRow: damaged
        case .answerTooLong, .answered, .malformedCode, .enrolment, .attestation, .keyRing,
            .outOfRange:
            "restart the server, and report this as a bug"
        }
    }

    private static func advice(for failure: StoreFailure) -> String {
        switch (failure.kind, failure.code) {
        case (.unavailable, "file-gone"):
            "stop the server, put the database file back or restore a copy, and start the server"
        case (.unavailable, "clock-differs"):
            "the clock of this machine and the database's differ by more than 10 s: synchronise both, for "
                + "example with chrony; the server recovers by itself"
        case (.unavailable, _):
            "check that the database runs and can be reached; the server reconnects by itself"
        case (.busy, _):
            "end the program or transaction that locks the database; the server recovers by itself"
        case (.full, _): "free space on the disk of the database; the server recovers by itself"
        case (.readOnly, _): "allow the server to write to the database"
        case (.damaged, "behind"):
            "the database lacks acknowledged events: stop all servers and run watchword-server restore "
                + "without FILE"
        case (.damaged, _): damaged
        case (.newer, _): "install the version of watchword-server that created the database"
        }
    }

    private static let damaged =
        "check that the key file belongs to the database, run watchword-server audit verify, and restore a "
        + "backup if rows were changed"
}
