import Arguments
import Cryptography
import HTTPListener
import POSIX
import SQLiteStore
import Verification

/// The sentences that people read when something did not work; none repeats a secret.
enum ServerWords {
    static func sentence(for failure: ServerFailure) -> String {
        switch failure {
        case .usage(let error): error.sentence(program: ServerVerb.program)
        case .noHome: "there is no HOME to keep a database in; give --store sqlite:PATH"
        case .keyFile(let path, let error): "\(path): " + sentence(for: error)
        case .store(let path, let error): "\(path): " + sentence(for: error)
        case .verifier(let error): sentence(for: error)
        case .input(let path, let error): "\(path): " + sentence(for: error)
        case .tls(let error, let certificate, let key):
            sentence(for: error, certificate: certificate, key: key)
        case .plainHTTP(let address):
            "\(address) can be reached from other machines, and codes would travel in the clear: give "
                + "--tls-certificate and --tls-key, or --insecure-http if something in front does TLS"
        case .listener(let address, let failure): "\(address): " + sentence(for: failure)
        case .noSuchClient: "there is no such client; see watchword-server client list"
        case .notAList(let path, let line):
            "\(path): line \(line) is no credential; each line is one, as cr_…"
        case .exists(let path): "\(path): there is such a file already; name another"
        case .standardOutput(let failure): "standard output: " + sentence(for: failure)
        case .system(let failure): sentence(for: failure)
        }
    }

    static func sentence(for failure: SystemCallFailure) -> String {
        "\(failure.reason) (\(failure.call))"
    }

    private static func sentence(for failure: ListenerFailure) -> String {
        switch failure {
        case .system(let call, let number):
            sentence(for: SystemCallFailure(call: call, number: number))
        case .notStarted: "libmicrohttpd could not start; is the TLS certificate one it takes?"
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
