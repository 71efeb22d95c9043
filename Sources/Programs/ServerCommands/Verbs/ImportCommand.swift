import CommandLineInterface
import Exports
import LocalSockets
import OneTimePassword
import Verification
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

enum ImportCommand {
    static func run(_ session: ServerSession) async throws -> ExitCode {
        let arguments = session.arguments
        guard !arguments.has(.pam) else { return try await PAMImport.run(session) }
        guard !session.operand.isEmpty else { throw ServerFailure.needsFile }
        let isRehearsal = arguments.has(.dryRun)
        // The file's reader must have ended before the server's keys are opened.
        let file = try ServerExport(session.operand, arguments)
        let realm = arguments.given(.realm) == nil ? nil : try Realm(arguments)
        let rows = try file.rows(
            of: arguments[.subject], in: realm, allowsShortKeys: arguments.has(.allowShortKeys))
        let origin = Administrator.origin
        let context = try ServerContext.open(ServerPaths(arguments), making: !isRehearsal)
        defer { context.close() }
        let importer = KeyImporter(
            verifier: context.verifier, origin: origin, isRehearsal: isRehearsal)
        let report = RowReport(session)
        let results = try await importer.run(rows) { row, result in
            try report.print(row, result)
        }
        try report.summarise(results, of: file)
        return results.allSatisfy(\.isImportedOrPresent) ? .done : .no
    }
}

/// Prints the result of each row, and a summary.
struct RowReport {
    private let session: ServerSession

    init(_ session: ServerSession) { self.session = session }

    private var isRehearsal: Bool { session.arguments.has(.dryRun) }

    func print(_ row: ImportRow, _ result: ImportRow.Result) throws {
        if session.wantsJSON {
            try session.printer.line(.object(facts(row, result)))
        } else {
            let file = row.file.map { "\($0): " } ?? ""
            let subject = row.subject.isEmpty ? "" : " \(row.subject):"
            try session.printer.line(
                "\(file)row \(row.number):\(subject) \(words(row, result))".visibleOnTerminal)
        }
    }

    /// Prints the reason why a file of the system could not be read.
    func print(_ unread: UnreadFile) throws {
        if session.wantsJSON {
            try session.printer.line(
                .object(
                    [
                        ("file", .text(unread.path)), ("result", .text("unread")),
                        ("message", .text(unread.sentence)),
                    ] + rehearsal))
        } else {
            try session.printer.line(unread.sentence.visibleOnTerminal)
        }
    }

    func summarise(_ results: [ImportRow.Result], of file: ServerExport) throws {
        try summarise(
            [("file", .text(file.name)), ("format", .text(file.export.format.name))],
            "\(file.name): \(file.export.format.name)", results, unread: nil,
            emergencyCodes: file.export.emergencyCodeCount)
    }

    func summarise(_ results: [ImportRow.Result], of files: PAMFiles) throws {
        try summarise(
            [("files", .number(Int64(files.count)))], "\(files.count) files", results,
            unread: files.unread.count, emergencyCodes: files.emergencyCodeCount)
    }

    private func summarise(
        _ facts: [(String, JSONValue)], _ what: String, _ results: [ImportRow.Result],
        unread: Int?, emergencyCodes: Int
    ) throws {
        let counts = ["imported", "present", "refused"].map { word in
            (word, results.count { $0.word == word })
        }
        guard !session.wantsJSON else {
            var facts = facts
            for (word, count) in counts { facts.append((word, .number(Int64(count)))) }
            if let unread { facts.append(("unread", .number(Int64(unread)))) }
            facts.append(("emergency_codes", .number(Int64(emergencyCodes))))
            try session.printer.line(.object(facts + rehearsal))
            return
        }
        var text = "\(what): ".visibleOnTerminal
        text += "\(counts[0].1) imported, \(counts[1].1) already present, \(counts[2].1) refused"
        if let unread { text += ", \(unread) not read" }
        if emergencyCodes > 0 { text += "; \(emergencyCodes) emergency codes left out" }
        if isRehearsal { text += "; dry run, nothing was changed" }
        try session.printer.line(text)
    }

    private func words(_ row: ImportRow, _ result: ImportRow.Result) -> String {
        switch result {
        case .imported:
            row.hasShortKey ? "imported, with a key of fewer than 128 bits" : "imported"
        case .present: "already present"
        case .refused(let reason): "refused: \(ServerMessages.sentence(for: reason))"
        }
    }

    private func facts(_ row: ImportRow, _ result: ImportRow.Result) -> [(String, JSONValue)] {
        var facts: [(String, JSONValue)] = row.file.map { [("file", .text($0))] } ?? []
        facts += [("row", .number(Int64(row.number))), ("result", .text(result.word))]
        if !row.subject.isEmpty { facts.append(("subject", .text(row.subject))) }
        switch result {
        case .imported(let id):
            // The id in a dry run differs from the id of the later credential.
            if !isRehearsal { facts.append(("credential", .text(id.text))) }
            if row.hasShortKey { facts.append(("short_key", .flag(true))) }
        case .present(let id): facts.append(("credential", .text(id.text)))
        case .refused(let reason): facts.append(("reason", .text(reason.rawValue)))
        }
        return facts + rehearsal
    }

    private var rehearsal: [(String, JSONValue)] {
        isRehearsal ? [("dry_run", .flag(true))] : []
    }
}

/// A row of a different server's file, checked for the import.
struct ImportRow: Sendable {
    /// The file, if several are imported at once.
    var file: String?
    /// The row's number; the first row is 1.
    let number: Int
    /// The subject, which is the user's name or made from it; empty if the row names no user.
    let subject: String
    var content: Content

    enum Content: Sendable {
        case key(OneTimePasswordImport, Subject)
        case refused(Refusal)
    }

    enum Result: Sendable {
        case imported(CredentialID)
        case present(CredentialID)
        case refused(Refusal)
    }

    /// The reason why a row is refused; the raw value is its name in JSON.
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
        case alreadyEnrolled = "already-enrolled"
        case tooManyCredentials = "too-many-credentials"
        case usedInFuture = "used-in-future"
    }

    /// Whether the key has fewer than 128 bits.
    var hasShortKey: Bool {
        if case .key(let given, _) = content { given.hasShortKey } else { false }
    }

    /// Whether the results of the two rows depend on their order.
    func competes(with other: ImportRow) -> Bool {
        guard case .key(let given, let subject) = content,
            case .key(let otherGiven, let otherSubject) = other.content
        else { return false }
        return subject == otherSubject || given.key == otherGiven.key
    }

    /// Checks an entry.
    ///
    /// - Parameters:
    ///   - user: replaces the user's name in the file.
    ///   - realm: the realm of the users, if they are users of a system.
    init(
        _ number: Int, _ entry: ExportedEntry, of user: String?, in realm: Realm?,
        allowsShortKeys: Bool
    ) {
        self.number = number
        let credential: Credential? =
            if case .oneTimePassword(let credential) = entry.content { credential } else { nil }
        let name = user ?? credential?.account ?? ""
        subject = name.isEmpty ? "" : realm?.subject(of: name) ?? name
        content =
            if let credential {
                Self.content(
                    credential, entry.lastUsedStep, of: subject, allowsShortKeys: allowsShortKeys)
            } else { .refused(.unknownType) }
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
            // An import has no audience, and replaces no credential.
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
