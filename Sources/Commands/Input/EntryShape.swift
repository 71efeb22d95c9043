import Arguments
import Cryptography
import OneTimePassword
import POSIX
import SecretVault

/// The properties of a new entry from the options: everything except its secret.
enum EntryShape {
    case secret(EntryName)
    case codes(EntryName, HashAlgorithm, CodeStyle, MovingFactor)
    /// A URI contains everything.
    case addressed

    /// Parses the options, and refuses those that do not apply to the type.
    init(_ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        guard !arguments.has(.uriFile), !arguments.has(.qr) else {
            self = .addressed
            return
        }
        let name = session.givenName(else: EntryName(issuer: "", account: ""))
        guard !name.text.isEmpty else { throw .usage(.needsOneOf(["NAME", "--account TEXT"])) }
        let type = try session.usage { () throws(UsageError) in try arguments.choice(.type) }
        switch type ?? "totp" {
        case "secret":
            try session.refuse([.algorithm, .digits, .period, .counter], for: "secret")
            self = .secret(name)
        case "hotp":
            try session.refuse([.period], for: "hotp")
            self = .codes(
                name, try session.algorithm(), try session.style(),
                .counter(try session.counter()))
        default:
            try session.refuse([.counter], for: "totp")
            self = .codes(
                name, try session.algorithm(), try session.style(), .time(try session.timeStep()))
        }
    }

    /// Reads the secret and creates the content.
    func content(_ session: Session) throws(CommandFailure) -> EntryContent {
        switch self {
        case .secret(let name):
            return .plainSecret(
                issuer: name.issuer, account: name.account, value: try session.plainSecret())
        case .codes(let name, let algorithm, let style, let factor):
            let key = try session.key()
            do {
                let credential = try Credential(
                    issuer: name.issuer, account: name.account, key: key, algorithm: algorithm,
                    style: style, movingFactor: factor)
                session.warn(of: credential)
                return .oneTimePassword(credential)
            } catch {
                throw .credential(error)
            }
        case .addressed: throw .usage(.needsOneOf(["--uri-file FILE", "--qr FILE"]))
        }
    }
}

extension Session {
    fileprivate func refuse(_ options: [Option], for type: String) throws(CommandFailure) {
        for option in options where arguments.has(option) {
            throw .usage(.conflict("type \(type)", option.name))
        }
    }

    /// Reads arbitrary bytes and drops a final line break, which editors add.
    func plainSecret() throws(CommandFailure) -> SecretBytes {
        guard let path = arguments[.secretFile] else {
            let secret = try Question.plainSecret.ask()
            guard secret.count > 0 else { throw .input("the secret", .empty) }
            return secret
        }
        let source = SecretSource(path)
        let secret = try source.read(limit: Session.secretLimit).withoutLastLineEnd()
        guard secret.count > 0 else { throw .input(source.name, .empty) }
        return secret
    }
}
