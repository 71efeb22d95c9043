import CommandLineInterface
import Exports
import LocalSockets
import Verification
import WatchwordCryptography
import WatchwordSystem

/// `import --pam`: imports the keys of all users of this system for whom the PAM modules of
/// google-authenticator and oath-toolkit have keys.
enum PAMImport {
    static func run(_ session: ServerSession) async throws -> ExitCode {
        let arguments = session.arguments
        guard arguments.operands.isEmpty else {
            throw UsageError.tooManyOperands(verb: arguments.entry.name)
        }
        try arguments.forbid(.pam, .subject)
        try arguments.forbid(.pam, .exportPasswordFile)
        let realm = try Realm(arguments)
        guard CurrentProcess.user == UserAccount.root.user else { throw ServerFailure.needsRoot }
        let isRehearsal = arguments.has(.dryRun)
        // The files' readers must have ended before the server's keys are opened, and the process
        // may then give up root's rights.
        let files = try PAMFiles(
            of: UserDatabase.accounts(), realm: realm,
            allowsShortKeys: arguments.has(.allowShortKeys))
        let report = RowReport(session)
        for file in files.unread { try report.print(file) }
        let origin = Administrator.origin
        let context = try ServerContext.open(ServerPaths(arguments), making: !isRehearsal)
        defer { context.close() }
        let importer = KeyImporter(
            verifier: context.verifier, origin: origin, isRehearsal: isRehearsal)
        let rows = try await withoutAdditions(files.rows, context.verifier)
        let results = try await importer.run(rows) { row, result in
            try report.print(row, result)
        }
        try report.summarise(results, of: files)
        let isComplete = files.unread.isEmpty && results.allSatisfy(\.isImportedOrPresent)
        return isComplete ? .done : .no
    }

    /// Refuses the rows that would add to a user's second factors and that any program of the user
    /// could have written: such an addition needs a code (N-33).
    private static func withoutAdditions(
        _ rows: [ImportRow], _ verifier: Verifier
    ) async throws -> [ImportRow] {
        var kept: [ImportRow] = []
        for var row in rows {
            if case .key(let given, let subject) = row.content, row.file != PAMFiles.usersFile,
                try await verifier.hasEverConfirmed(subject)
            {
                let outcome = try await verifier.rehearse([(given: given, subject: subject)]).first
                let isPresent = if case .present? = outcome { true } else { false }
                if !isPresent { row.content = .refused(.alreadyEnrolled) }
            }
            kept.append(row)
        }
        return kept
    }
}

/// A file that exists but was not read.
struct UnreadFile: Hashable, Sendable {
    let path: String
    /// The message, with the path and the reason.
    let sentence: String
}

/// The files of PAM modules that keep the users' keys.
struct PAMFiles: Sendable {
    /// The rows of all files.
    private(set) var rows: [ImportRow] = []
    private(set) var unread: [UnreadFile] = []
    private(set) var emergencyCodeCount = 0
    /// The number of files that exist.
    private(set) var count = 0

    /// The path of a user's google-authenticator key in the home folder.
    private static let nameInHome = ".google_authenticator"
    /// The path of oath-toolkit's file with the keys of all users.
    static let usersFile = "/etc/users.oath"
    /// The largest file of one user, in bytes, which is also the module's limit.
    private static let largestUserFile = 64 << 10
    /// The largest file of all users, in bytes.
    private static let largestUsersFile = 64 << 20
    /// The time limit for opening and reading a file.
    private static let timeout = Duration.seconds(20)

    /// Reads the files of these users, each with its owner's rights, and the file of all users.
    ///
    /// A user can write anything to a file in the home folder, so the file can only contain a key
    /// for that user.
    init(of accounts: [UserAccount], realm: Realm, allowsShortKeys: Bool) throws {
        for account in accounts {
            try read(
                "\(account.home)/\(Self.nameInHome)", of: account, as: .googlePAM,
                limit: Self.largestUserFile
            ) { file in
                try file.rows(of: account.name, in: realm, allowsShortKeys: allowsShortKeys)
            }
        }
        try read(
            Self.usersFile, of: .root, as: .oathUsersFile, limit: Self.largestUsersFile
        ) { file in
            try file.rows(of: nil, in: realm, allowsShortKeys: allowsShortKeys)
        }
    }

    /// Reads a file, if it exists.
    private mutating func read(
        _ path: String, of owner: UserAccount, as format: ExportFormat, limit: Int,
        rows: (ServerExport) throws -> [ImportRow]
    ) throws {
        do {
            guard let content = try Self.content(path, of: owner, limit: limit) else { return }
            let file = try ServerExport(path, content)
            guard file.export.format == format else {
                throw ServerFailure.otherFormat(path, file.export.format)
            }
            let found = try rows(file)
            emergencyCodeCount += file.export.emergencyCodeCount
            self.rows += found.map { row in
                var row = row
                row.file = path
                return row
            }
        } catch let failure as ServerFailure {
            // The thread that still waits for the file would prevent the process from giving up
            // root's rights.
            if case .slowFile = failure { throw failure }
            unread.append(
                UnreadFile(path: path, sentence: ServerMessages.sentence(for: failure)))
        }
        count += 1
    }

    /// The content of a file; `nil` if there is none.
    private static func content(
        _ path: String, of owner: UserAccount, limit: Int
    ) throws -> SecretBytes? {
        do throws(FileError) {
            let content = try UserFile.read(path, of: owner, limit: limit, timeout: timeout) {
                file throws(FileError) in
                try InputBytes.rest(of: file, limit: limit)
            }
            if let content { return content }
        } catch .missing {
            return nil
        } catch {
            throw ServerFailure.input(path, error)
        }
        throw ServerFailure.slowFile(path)
    }
}
