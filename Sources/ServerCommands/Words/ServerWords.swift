import Arguments
import Cryptography
import HTTPListener
import POSIX
import SQLiteStore
import Verification
import VerificationService

/// The sentences that people read when something did not work; none repeats a secret.
enum ServerWords {
    static func sentence(for failure: ServerFailure) -> String {
        switch failure {
        case .usage(let error): error.sentence(program: ServerVerb.program)
        case .noHome: "there is no HOME to keep anything in; give --store and --keys"
        case .keyFile(let path, let error): "\(path): " + sentence(for: error)
        case .store(let path, let error): "\(path): " + sentence(for: error)
        case .postgreSQL(let place, let error): "\(place): " + sentence(for: error)
        case .endsFile(let path, let error): "\(path): " + sentence(for: error)
        case .putBack(let path):
            "the database lacks events that \(path) says were there: an earlier state was put in its "
                + "place, in which spent codes are good again. watchword-server restore makes it one "
                + "that can be served; where another machine has done so already, remove the file"
        case .foreignKeys(let path, let keys):
            "\(path): other machines have another key \(keys.map { String($0.number) }.joined(separator: ", ")); "
                + "all of them need the same key file"
        case .spokenPassword:
            "everybody on this machine can read a password on the command line: say WATCHWORD_STORE, or "
                + "keep it in a PGPASSFILE"
        case .noCopies:
            "this is a PostgreSQL database: copy it with pg_dump or its server's own means, and the key "
                + "file to another place; both together open every account"
        case .needsFile: "FILE is missing; see --help"
        case .takesNoFile:
            "put the copy back with pg_restore first; then this verb, without a FILE, ends what may have "
                + "been spent since it was made"
        case .verifier(let error): sentence(for: error)
        case .input(let path, let error): "\(path): " + sentence(for: error)
        case .tls(let error, let certificate, let key):
            sentence(for: error, certificate: certificate, key: key)
        case .plainHTTP(let address):
            "\(address) can be reached from other machines, and codes would travel in the clear: give "
                + "--tls-certificate and --tls-key, or --insecure-http if something in front does TLS"
        case .plainOperations(let address):
            "\(address) can be reached from other machines, and health and metrics have no TLS: listen on "
                + "127.0.0.1, or give --insecure-http if something in front of it does TLS"
        case .listener(let address, let failure): "\(address): " + sentence(for: failure)
        case .fewFiles(let files, let needed):
            "the system lets this process open \(files) files, and each connection is one: it needs "
                + "\(needed) at least (ulimit -n, or LimitNOFILE= in the unit)"
        case .noSuchClient: "there is no such client; see watchword-server client list"
        case .clientRevoked:
            "this client is revoked, and stays so; make another one with watchword-server client add"
        case .clientNameTaken:
            "another client has this name: choose another one, or revoke that client first"
        case .badClientName:
            "a client's name has at most \(ClientRow.maximalNameCount) bytes and does not begin with cl_, as ids do"
        case .doubtfulClock(let now, isPossible: false):
            "this machine's clock says \(now.text), which is before this program was made: set it right"
        case .doubtfulClock(let now, isPossible: true):
            "nothing vouches for this machine's clock, which says \(now.text), and it decides which codes are "
                + "refused: synchronise it and try again, or give --clock-is-right once you have "
                + "checked it yourself"
        case .notAList(let path, let line):
            "\(path): line \(line) is no credential; each line is one, as cr_…"
        case .noMarks(let path):
            "\(path): there is no whole mark in it; keep what audit verify prints as it is"
        case .exists(let path): "\(path): there is such a file already; name another"
        case .standardOutput(let failure): "standard output: " + sentence(for: failure)
        case .system(let failure): sentence(for: failure)
        }
    }

    static func shortage(of room: ConnectionRoom) -> String {
        "the system lets this process open \(room.files) files, and each connection is one: the server "
            + "takes \(room.service) connections instead of \(ConnectionRoom.most) (ulimit -n, or "
            + "LimitNOFILE= in the unit)"
    }

    static func sentence(for failure: SystemCallFailure) -> String {
        "\(failure.reason) (\(failure.call))"
    }

    private static func sentence(for failure: ListenerFailure) -> String {
        switch failure {
        case .system(let call, let number):
            sentence(for: SystemCallFailure(call: call, number: number))
        case .notStarted: "libmicrohttpd could not start; is the TLS certificate one it takes?"
        case .earlierCertificatesInUse(let count):
            "connections still use \(count) earlier certificates, and more are not kept at a time; "
                + "reload again in a minute"
        }
    }

    private static func sentence(
        for error: TLSIdentityError, certificate: String, key: String
    ) -> String {
        switch error {
        case .noCertificate: "\(certificate): there is no certificate in PEM in it"
        case .noKey: "\(key): there is no private key in PEM in it, or it has a passphrase"
        case .mismatched: "\(key): this is not the key of \(certificate)"
        case .notYetValid:
            "\(certificate): the certificate is not in force yet; is the clock right?"
        case .expired: "\(certificate): the certificate has expired"
        }
    }

    private static func sentence(for error: InputFileError) -> String {
        switch error {
        case .missing: "there is no such file"
        case .forbidden: "you may not read it"
        case .empty: "there is nothing in it"
        case .tooLarge(let limit): "it holds more than the \(limit) bytes that are read"
        case .system(let failure): sentence(for: failure)
        default: "this is no file that can be read"
        }
    }
}
