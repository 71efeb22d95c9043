import SQLiteStore
import StoreContract
import TestSupport
import Verification

/// A database in a folder of its own, with the key that its events are tied by.
struct TestDatabase {
    let folder: TemporaryFolder
    let keys: KeyRing

    init() throws {
        folder = try TemporaryFolder()
        keys = StoreKeys.known
    }

    var path: String { folder.file("verifier.db") }

    /// Opens it, as each process would.
    func open(timeout: Duration = .seconds(20)) throws -> SQLiteStore {
        // Longer than in production: the machine may be busy with other tests.
        try SQLiteStore(opening: path, key: keys.auditKey, timeout: timeout)
    }
}
