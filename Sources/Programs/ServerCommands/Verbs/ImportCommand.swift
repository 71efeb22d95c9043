import CommandLineInterface
import Exports
import OneTimePassword
import Verification
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

/// `import`.
enum ImportCommand {
    static func run(_ session: ServerSession) async throws -> ExitCode {
        let arguments = session.arguments
        let isRehearsal = arguments.has(.dryRun)
        // The file's reader must have ended before the server's keys are opened.
        let file = try ServerExport(session.operand, arguments)
        let rows = try file.rows(arguments)
        let context = try ServerContext.open(ServerPaths(arguments), making: !isRehearsal)
        defer { context.close() }
        let importer = KeyImporter(verifier: context.verifier)
        let report = RowReport(file, session)
        let results =
            isRehearsal
            ? try await importer.rehearse(rows)
            : try await importer.run(rows) { row, result in try report.print(row, result) }
        if isRehearsal {
            for (row, result) in zip(rows, results) { try report.print(row, result) }
        }
        try report.summarise(results)
        return results.allSatisfy(\.isImportedOrPresent) ? .done : .no
    }
}

/// Imports rows, one commit each, so that an interrupted import can be repeated.
private struct KeyImporter {
    let verifier: Verifier

    func run(
        _ rows: [ImportRow],
        _ finished: (ImportRow, ImportRow.Result) throws -> Void
    ) async throws -> [ImportRow.Result] {
        var results: [ImportRow.Result] = []
        for row in rows {
            let result: ImportRow.Result
            switch row.content {
            case .key(let given, let subject):
                result = ImportRow.Result(
                    try await verifier.importOneTimePassword(given, for: subject))
            case .refused(let reason): result = .refused(reason)
            }
            results.append(result)
            try finished(row, result)
        }
        return results
    }

    func rehearse(_ rows: [ImportRow]) async throws -> [ImportRow.Result] {
        var given: [(given: OneTimePasswordImport, subject: Subject)] = []
        for row in rows {
            if case .key(let key, let subject) = row.content {
                given.append((given: key, subject: subject))
            }
        }
        let imports = given
        let outcomes = try await verifier.rehearse(imports)
        var rest = outcomes[...]
        return rows.compactMap { row in
            if case .refused(let reason) = row.content { return .refused(reason) }
            return rest.popFirst().map { ImportRow.Result($0) }
        }
    }
}

/// Prints the result of each row, and a summary.
private struct RowReport {
    let file: ServerExport
    let session: ServerSession

    init(_ file: ServerExport, _ session: ServerSession) {
        self.file = file
        self.session = session
    }

    private var isRehearsal: Bool { session.arguments.has(.dryRun) }

    func print(_ row: ImportRow, _ result: ImportRow.Result) throws {
        if session.wantsJSON {
            try session.printer.line(.object(facts(row, result)))
        } else {
            let subject = row.subject.isEmpty ? "" : " \(row.subject):"
            try session.printer.line(
                "row \(row.number):\(subject) \(words(row, result))".visibleOnTerminal)
        }
    }

    func summarise(_ results: [ImportRow.Result]) throws {
        let counts = ["imported", "present", "refused"].map { word in
            (word, results.count { $0.word == word })
        }
        let codes = file.export.emergencyCodeCount
        guard !session.wantsJSON else {
            try session.printer.line(
                .object(
                    [("file", .text(file.name)), ("format", .text(file.export.format.name))]
                        + counts.map { ($0.0, .number(Int64($0.1))) }
                        + [("emergency_codes", .number(Int64(codes)))] + rehearsal))
            return
        }
        try session.printer.line(
            "\(file.name): \(file.export.format.name): ".visibleOnTerminal
                + "\(counts[0].1) imported, \(counts[1].1) already present, "
                + "\(counts[2].1) refused"
                + (codes > 0 ? "; \(codes) emergency codes left out" : "")
                + (isRehearsal ? "; dry run, nothing was changed" : ""))
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
        var facts: [(String, JSONValue)] = [
            ("row", .number(Int64(row.number))), ("result", .text(result.word)),
        ]
        if !row.subject.isEmpty { facts.append(("subject", .text(row.subject))) }
        switch result {
        case .imported(let id):
            // A rehearsal's id is not the one that the credential will have.
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
