import SQLStore
import SQLiteStore
import StoreContract
import TestSupport
import Testing
import Verification

/// A database in its own folder, with the key that authenticates its events.
struct TestDatabase {
    let folder: TemporaryFolder
    let keys: KeyRing

    init() throws {
        folder = try TemporaryFolder()
        keys = StoreKeys.known
    }

    var path: String { folder.file("verifier.db") }

    /// Opens the database as a separate process would.
    func open(timeout: Duration = .seconds(20)) throws -> SQLiteVerificationStore {
        // The timeout is longer than in production, because the machine may be busy with other
        // tests.
        try SQLiteVerificationStore(opening: path, key: keys.auditKey, timeout: timeout)
    }

    /// Restores a backup that has this database's key.
    @discardableResult func restore(
        _ backup: String, to path: String, _ options: RestoreOptions
    ) throws -> RestoreReport {
        try SQLiteVerificationStore.restore(from: backup, to: path, key: keys.auditKey, options)
    }
}

extension TestDatabase {
    /// A database to which a separate process has written `count` rows.
    static func written(_ count: Int) throws -> TestDatabase {
        let database = try TestDatabase()
        let command = database.command("write", 0, count)
        let outcome = try ForeignProgram(path: command[0]).run(Array(command.dropFirst()))
        try #require(outcome.status == 0)
        return database
    }

    /// The command of a process that uses the database.
    func command(_ verb: String, _ number: Int, _ count: Int) -> [String] {
        [BuiltProgram.path("store-writer"), verb, path, "\(number)", "\(count)"]
    }
}
