import CommandLineInterface
import Exports
import OneTimePassword
import Verification
import WatchwordCryptography
import WatchwordSystem

/// A row of another server's file, checked for the import.
struct ImportRow: Sendable {
    /// Counted from one.
    let number: Int
    /// The user's name; empty if the row has none.
    let subject: String
    let content: Content

    /// What is imported.
    enum Content: Sendable {
        case key(OneTimePasswordImport, Subject)
        case refused(Refusal)
    }

    /// The result of importing the row.
    enum Result: Sendable {
        case imported(CredentialID)
        case present(CredentialID)
        case refused(Refusal)
    }

    /// Why a row is refused; the raw value is its name in JSON.
    enum Refusal: String, CaseIterable {
        case noKey = "no-key"
        case badKey = "bad-key"
        case keyTooShort = "key-too-short"
        case keyTooLong = "key-too-long"
        case unknownType = "unknown-type"
        case unknownAlgorithm = "unknown-algorithm"
        case badDigits = "bad-digits"
        case badPeriod = "bad-period"
        case badCounter = "bad-counter"
        case malformed = "malformed"
        case noSubject = "no-subject"
        case badSubject = "bad-subject"
        case keyInUse = "key-in-use"
        case tooManyCredentials = "too-many-credentials"
        case usedInFuture = "used-in-future"
    }

    /// Whether the key has fewer than 128 bits.
    var hasShortKey: Bool {
        if case .key(let given, _) = content { given.hasShortKey } else { false }
    }

    /// Checks an entry.
    ///
    /// - Parameter user: replaces the user's name in the file.
    init(_ number: Int, _ entry: ExportedEntry, user: String?, allowsShortKeys: Bool) {
        self.number = number
        guard case .oneTimePassword(let credential) = entry.content else {
            subject = user ?? ""
            content = .refused(.unknownType)
            return
        }
        subject = user ?? credential.account
        content = Self.content(
            credential, entry.lastUsedStep, of: subject, allowsShortKeys: allowsShortKeys)
    }

    /// A row that the reader refused.
    init(_ number: Int, refusedFor reason: ExportRowRefusal) {
        self.number = number
        subject = ""
        content = .refused(Refusal(reason))
    }

    private static func content(
        _ credential: Credential, _ lastUsedStep: UInt64?, of user: String, allowsShortKeys: Bool
    ) -> Content {
        guard !user.isEmpty else { return .refused(.noSubject) }
        guard let subject = Subject(user) else { return .refused(.badSubject) }
        guard case .decimal(let length) = credential.style else { return .refused(.unknownType) }
        let factor: OneTimePasswordImport.Factor
        switch credential.movingFactor {
        case .counter(let counter): factor = .counter(counter)
        case .time(let step):
            guard step.start == 0 else { return .refused(.unknownType) }
            guard let period = Int(exactly: step.period) else { return .refused(.badPeriod) }
            factor = .time(period: period, lastUsedStep: lastUsedStep)
        }
        do throws(VerifierError) {
            let key = try OneTimePasswordImport(
                key: credential.key, allowingShortKey: allowsShortKeys, factor: factor,
                algorithm: credential.algorithm, digits: length.digits, name: credential.issuer,
                isConfirmed: true)
            return .key(key, subject)
        } catch {
            guard case .enrolment(let fault) = error else { return .refused(.malformed) }
            return .refused(Refusal(fault))
        }
    }
}

extension ImportRow.Result {
    init(_ outcome: ImportOutcome) {
        self =
            switch outcome {
            case .imported(let id, _): .imported(id)
            case .present(let id): .present(id)
            case .refused(.keyInUse): .refused(.keyInUse)
            case .refused(.tooMany): .refused(.tooManyCredentials)
            case .refused(.usedInFuture): .refused(.usedInFuture)
            // An import has no audience, and replaces nothing.
            case .refused(.unknownClient), .refused(.unknownCredential),
                .refused(.pendingCredential), .refused(.foreignCredential):
                .refused(.malformed)
            }
    }

    /// The result in JSON.
    var word: String {
        switch self {
        case .imported: "imported"
        case .present: "present"
        case .refused: "refused"
        }
    }

    var isImportedOrPresent: Bool { if case .refused = self { false } else { true } }
}

extension ImportRow.Refusal {
    fileprivate init(_ fault: OneTimePasswordEnrolment.Fault) {
        self =
            switch fault {
            case .keyTooShort: .keyTooShort
            case .keyTooLong: .keyTooLong
            case .digits: .badDigits
            case .period: .badPeriod
            case .counter: .badCounter
            case .text: .malformed
            }
    }

    fileprivate init(_ reason: ExportRowRefusal) {
        self =
            switch reason {
            case .noSecret: .noKey
            case .badSecret: .badKey
            case .secretTooLong: .keyTooLong
            case .unknownAlgorithm: .unknownAlgorithm
            case .unknownType: .unknownType
            case .badDigits: .badDigits
            case .badPeriod: .badPeriod
            case .badCounter: .badCounter
            default: .malformed
            }
    }
}

/// Another server's file of keys, read in the confined reader.
struct ServerExport: Sendable {
    /// The name in messages.
    let name: String
    let export: Export

    /// The formats of servers' files.
    private static let formats: Set<ExportFormat> = [.oathUsersFile, .googlePAM, .pskc]
    /// The largest file, in bytes.
    private static let largestFile = 64 << 20
    /// The longest password or key of an encrypted file.
    private static let longestPassword = 4096

    /// Reads the file at `path`; `-` is standard input.
    init(_ path: String, _ arguments: ServerArguments) throws {
        name = path == "-" ? "standard input" : path
        let content = try InputBytes.of(
            path == "-" ? "/dev/stdin" : path, limit: Self.largestFile)
        switch try Self.outcome(of: content, arguments) {
        case .export(let export):
            guard Self.formats.contains(export.format) else {
                throw ServerFailure.notAServerFile(name, export.format)
            }
            self.export = export
        case .refused(let error): throw ServerFailure.export(name, error)
        case .lost(let loss): throw ServerFailure.lostExport(name, loss)
        }
    }

    private static func outcome(
        of content: SecretBytes, _ arguments: ServerArguments
    ) throws -> ExportOutcome {
        let reader = try ExportProcess()
        let source = ExportSource(content)
        let outcome = try reader.read(source)
        guard case .refused(.passwordNeeded(.some)) = outcome,
            let path = arguments[.exportPasswordFile]
        else { return outcome }
        let password = try InputBytes.of(path, limit: longestPassword).firstLine()
        return try reader.read(password: password)
    }

    /// The rows in the order of the file.
    func rows(_ arguments: ServerArguments) throws -> [ImportRow] {
        let user = arguments[.subject]
        if user == nil, export.format == .googlePAM { throw ServerFailure.needsSubject(name) }
        // One user's name for several rows would give that user the keys of all of them.
        if user != nil, export.entries.count > 1 { throw ServerFailure.severalSubjects(name) }
        let refused = Set(export.refusals.map(\.row))
        var rows = export.refusals.map { ImportRow($0.row, refusedFor: $0.reason) }
        var number = 0
        for entry in export.entries {
            repeat { number += 1 } while refused.contains(number)
            rows.append(
                ImportRow(
                    number, entry, user: user, allowsShortKeys: arguments.has(.allowShortKeys)))
        }
        return rows.sorted { $0.number < $1.number }
    }
}
