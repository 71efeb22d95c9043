import CommandLineInterface
import Exports
import WatchwordCryptography
import WatchwordSystem

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
    init(_ path: String, _ arguments: ServerArguments) throws(ServerFailure) {
        name = path == "-" ? "standard input" : path
        let content = try InputBytes.of(
            path == "-" ? "/dev/stdin" : path, limit: Self.largestFile)
        switch try Self.outcome(of: content, arguments) {
        case .export(let export):
            guard Self.formats.contains(export.format) else {
                throw .notAServerFile(name, export.format)
            }
            self.export = export
        case .refused(let error): throw .export(name, error)
        case .lost(let loss): throw .lostExport(name, loss)
        }
    }

    private static func outcome(
        of content: SecretBytes, _ arguments: ServerArguments
    ) throws(ServerFailure) -> ExportOutcome {
        let reader = try reading { () throws(HelperFailure) in try ExportProcess() }
        let source = ExportSource(content)
        let outcome = try reading { () throws(HelperFailure) in try reader.read(source) }
        guard case .refused(.passwordNeeded(.some)) = outcome,
            let path = arguments[.exportPasswordFile]
        else { return outcome }
        let password = try InputBytes.of(path, limit: longestPassword).firstLine()
        return try reading { () throws(HelperFailure) in try reader.read(password: password) }
    }

    private static func reading<Value>(
        _ body: () throws(HelperFailure) -> Value
    ) throws(ServerFailure) -> Value {
        do { return try body() } catch { throw .exportReader(error) }
    }

    /// The rows in the order of the file.
    func rows(_ arguments: ServerArguments) throws(ServerFailure) -> [ImportRow] {
        let user = arguments[.subject]
        if user == nil, export.format == .googlePAM { throw .needsSubject(name) }
        // One user's name for several rows would give that user the keys of all of them.
        if user != nil, export.entries.count > 1 { throw .severalSubjects(name) }
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
