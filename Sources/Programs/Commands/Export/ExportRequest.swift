import CommandLineInterface
import Exports
import WatchwordCryptography
import WatchwordSystem

/// What `export` writes, and where, according to the options.
struct ExportRequest {
    enum Format: Hashable {
        /// A backup: a vault file with a passphrase of its own.
        case backup
        case app(ExportTarget)

        /// The words of the option `--format`.
        static let words = ["watchword"] + ExportTarget.allCases.map(\.rawValue)

        init(word: String) { self = ExportTarget(rawValue: word).map(Format.app) ?? .backup }

        var word: String {
            switch self {
            case .backup: "watchword"
            case .app(let target): target.rawValue
            }
        }

        var name: String {
            switch self {
            case .backup: "Watchword"
            case .app(let target): target.name
            }
        }
    }

    enum Destination: Hashable {
        case file(String)
        case standardOutput
    }

    let format: Format
    let destination: Destination
    /// Whether a password protects the file.
    let isEncrypted: Bool

    init(_ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        let word = try session.usage { () throws(UsageError) in try arguments.choice(.format) }
        format = word.map(Format.init) ?? .app(.keyURIs)
        let path = arguments[.output]
        destination = path.map { $0 == "-" ? .standardOutput : .file($0) } ?? .standardOutput
        let canBePlain: Bool
        switch format {
        case .backup: (isEncrypted, canBePlain) = (true, false)
        case .app(let target):
            canBePlain = target.canBeEncrypted
            isEncrypted = target.canBeEncrypted && !arguments.has(.plain)
        }
        try session.usage { [format, destination, isEncrypted] () throws(UsageError) in
            try arguments.forbid(.plain, .exportPasswordFile)
            if arguments.has(.plain), !canBePlain {
                throw .needs(Option.plain.name, with: "format aegis")
            }
            if arguments.has(.exportPasswordFile), !isEncrypted {
                throw .needs(Option.exportPasswordFile.name, with: "format watchword")
            }
            guard destination == .standardOutput else { return }
            if arguments.has(.force) {
                throw .needs(Option.force.name, with: Option.output.name)
            }
            if session.wantsJSON, format != .app(.keyURIs) {
                throw .needs(Option.json.name, with: Option.output.name)
            }
        }
        // A terminal shows lines and QR codes, but a file only with `--output -`.
        let isForTerminal = format == .app(.keyURIs) || format == .app(.google)
        if path == nil, !isForTerminal, session.printer.outputIsTerminal {
            throw .exportOnTerminal
        }
        if case .file(let path) = destination { try SecretFile.checkUnused(path, session) }
    }
}

extension Session {
    /// The new password for a file in the format `format`.
    func newExportPassword(for format: ExportRequest.Format) throws(CommandFailure) -> SecretBytes {
        let password: SecretBytes
        if let path = arguments[.exportPasswordFile] {
            password = try SecretSource(path).readFirstLine(limit: Session.secretLimit)
        } else {
            password = try Question.newExportPassword(format: format.name).ask()
            if password.count > 0 {
                let again = try Question.newExportPasswordAgain(format: format.name).ask()
                guard password == again else { throw .passphrasesDiffer }
            }
        }
        guard password.count > 0 else { throw .emptyPassphrase }
        if password.count < Session.shortPassphrase {
            printer.warn("the export's password is short and easy to guess; use several words")
        }
        return password
    }
}
