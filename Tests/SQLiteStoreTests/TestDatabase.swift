import SQLiteStore
import StoreContract
import TestSupport
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

    /// Opens the database as another process would.
    func open(timeout: Duration = .seconds(20)) throws -> SQLiteVerificationStore {
        // Longer than in production, because the machine may be busy with other tests.
        try SQLiteVerificationStore(opening: path, key: keys.auditKey, timeout: timeout)
    }
}
