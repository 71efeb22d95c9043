import CommandLineInterface
import OneTimePassword
import SecretVault
import WatchwordCryptography
import WatchwordSystem

/// The properties of a new entry from the options, without its secret.
enum EntryShape {
    case secret(EntryName)
    /// The name is empty if a URI may be pasted, because the URI contains a name.
    case codes(EntryName, HashAlgorithm, CodeStyle, MovingFactor)
    /// The URI states all other properties.
    case addressed

    /// Parses the options, and refuses those that do not apply to the type.
    init(_ session: Session) throws {
        let arguments = session.arguments
        guard !arguments.has(.uriFile), !arguments.has(.qr) else {
            self = .addressed
            return
        }
        let name = session.givenName(else: EntryName(issuer: "", account: ""))
        let type = try arguments.choice(.type)
        let asksForURI = type != "secret" && !arguments.has(.secretFile)
        guard !name.text.isEmpty || asksForURI else { throw EntryShape.nameMissing }
        _ = try session.isHex()
        switch type ?? "totp" {
        case "secret":
            try session.refuse([.algorithm, .digits, .period, .counter, .encoding], for: "secret")
            self = .secret(name)
        case "hotp":
            try session.refuse([.period], for: "hotp")
            self = .codes(
                name, try session.algorithm(), try session.style(),
                .counter(try session.counter()))
        case "steam":
            try session.refuse([.algorithm, .digits, .period, .counter], for: "steam")
            self = .codes(name, .sha1, .steam, .time(.standard))
        default:
            try session.refuse([.counter], for: "totp")
            self = .codes(
                name, try session.algorithm(), try session.style(), .time(try session.timeStep()))
        }
    }

    /// Reads the secret and creates the content.
    func content(_ session: Session) throws -> EntryContent {
        switch self {
        case .secret(let name):
            return .plainSecret(
                issuer: name.issuer, account: name.account, value: try session.plainSecret())
        case .codes(let name, let algorithm, let style, let factor):
            let question: Question = try session.isHex() ? .hexKey : .keyOrURI
            let written = try session.keyText(asking: question)
            if !session.arguments.has(.secretFile),
                written.text.withBytes({ SecretForm(inURI: $0) }) == .keyURI
            {
                for option in EntryShape.describedByURI where session.arguments.has(option) {
                    throw UsageError.specifiedByURI(option.name)
                }
                return .oneTimePassword(try session.credential(ofURI: written.text, "the URI"))
            }
            let key = try session.key(from: written)
            let name = name.text.isEmpty ? try EntryShape.askForName() : name
            let credential = try Credential(
                issuer: name.issuer, account: name.account, key: key, algorithm: algorithm,
                style: style, movingFactor: factor)
            session.warn(of: credential)
            return .oneTimePassword(credential)
        case .addressed: throw UsageError.needsOneOf(["--uri-file FILE", "--qr FILE"])
        }
    }

    /// Options for properties that a URI already states.
    static let describedByURI: [Option] = [
        .type, .algorithm, .digits, .period, .counter, .encoding,
    ]

    private static var nameMissing: UsageError {
        .needsOneOf(["NAME", "--account TEXT"])
    }

    private static func askForName() throws -> EntryName {
        let typed = try Question.name.ask().withBytes { bytes in
            // A name is not secret.
            String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        guard let typed, !EntryName.isBlank(typed) else { throw nameMissing }
        if let form = SecretForm(inName: typed) {
            throw UsageError.secretAsOperand("the name", form)
        }
        return EntryName(typed: typed)
    }
}

extension Session {
    fileprivate func refuse(_ options: [Option], for type: String) throws {
        for option in options where arguments.has(option) {
            throw UsageError.conflict("type \(type)", option.name)
        }
    }

    /// Reads arbitrary bytes and drops a final line break, which editors add.
    func plainSecret() throws -> SecretBytes {
        guard let path = arguments[.secretFile] else {
            let secret = try Question.plainSecret.ask()
            guard secret.count > 0 else {
                throw CommandFailure.at("the secret", FileError.empty)
            }
            return secret
        }
        let source = SecretSource(path)
        let secret = try source.read(limit: Session.secretLimit).withoutLastLineEnd()
        guard secret.count > 0 else { throw CommandFailure.at(source.name, FileError.empty) }
        return secret
    }
}
