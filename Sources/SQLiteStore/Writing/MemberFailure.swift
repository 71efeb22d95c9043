internal import Cryptography
internal import Verification

/// Why one member of a shared transaction fails.
enum MemberFailure: Error {
    /// SQLite refused.
    case database(SQLiteFailure)
    /// The chain's stored end is not the one that was written.
    case chain
    /// A credential's row is not what was written.
    case row
    /// An event could not be tied to the chain.
    case cryptography

    var storeFailure: StoreFailure {
        switch self {
        case .database(let failure): StoreFailure(failure)
        case .chain: StoreFailure(.damaged, code: "chain")
        case .row: StoreFailure(.damaged, code: "row")
        case .cryptography: StoreFailure(.unavailable, code: "cryptography")
        }
    }
}

/// Makes SQLite's failure a member's.
func database<Result>(_ body: () throws(SQLiteFailure) -> Result) throws(MemberFailure) -> Result {
    do { return try body() } catch { throw .database(error) }
}

/// Makes OpenSSL's failure a member's.
func cryptography<Result>(
    _ body: () throws(CryptographyFailure) -> Result
) throws(MemberFailure) -> Result {
    do { return try body() } catch { throw .cryptography }
}

/// Makes a member's failure one of opening, making or copying.
func opening<Result>(
    _ body: () throws(MemberFailure) -> Result
) throws(SQLiteStoreError) -> Result {
    do { return try body() } catch { throw SQLiteStoreError(error) }
}
