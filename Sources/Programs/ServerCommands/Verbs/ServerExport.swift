import CommandLineInterface
import Exports
import LocalSockets
import WatchwordCryptography

/// A different server's file of keys, read in the confined reader.
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
        let name = path == "-" ? "standard input" : path
        let content = try InputBytes.of(
            path == "-" ? "/dev/stdin" : path, limit: Self.largestFile)
        try self.init(name, content, passwordFile: arguments[.exportPasswordFile])
    }

    /// Reads the content of a file.
    init(_ name: String, _ content: SecretBytes, passwordFile: String? = nil) throws {
        self.name = name
        switch try Self.outcome(of: content, passwordFile) {
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
        of content: SecretBytes, _ passwordFile: String?
    ) throws -> ExportOutcome {
        let reader = try ExportProcess()
        let source = ExportSource(content)
        let outcome = try reader.read(source)
        guard case .refused(.passwordNeeded(.some)) = outcome,
            let path = passwordFile
        else { return outcome }
        let password = try InputBytes.of(path, limit: longestPassword).firstLine()
        return try reader.read(password: password)
    }

    /// The rows in the order of the file.
    ///
    /// - Parameters:
    ///   - user: replaces the user's name in the file.
    ///   - realm: the realm of the users, if they are users of a system.
    func rows(
        of user: String?, in realm: Realm?, allowsShortKeys: Bool
    ) throws -> [ImportRow] {
        if user == nil, export.format == .googlePAM { throw ServerFailure.needsSubject(name) }
        // With one user's name, that user would get the keys of all rows.
        if user != nil, export.entries.count > 1 { throw ServerFailure.severalSubjects(name) }
        let refused = Set(export.refusals.map(\.row))
        var rows = export.refusals.map { ImportRow($0.row, refusedFor: $0.reason) }
        var number = 0
        for entry in export.entries {
            repeat { number += 1 } while refused.contains(number)
            rows.append(
                ImportRow(
                    number, entry, of: user, in: realm, allowsShortKeys: allowsShortKeys))
        }
        return rows.sorted { $0.number < $1.number }
    }
}
