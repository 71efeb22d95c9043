internal import Cryptography
internal import Verification

/// Why one member of a shared transaction failed.
enum MemberFailure: Error {
    /// SQLite reported an error.
    case database(SQLiteFailure)
    /// The chain's stored end is not the one that was written.
    case chain
    /// A credential's row is not the one that was written.
    case row
    /// OpenSSL failed.
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

/// Converts an SQLite failure to a member's failure.
func database<Result>(_ body: () throws(SQLiteFailure) -> Result) throws(MemberFailure) -> Result {
    do { return try body() } catch { throw .database(error) }
}

/// Converts an OpenSSL failure to a member's failure.
func cryptography<Result>(
    _ body: () throws(CryptographyFailure) -> Result
) throws(MemberFailure) -> Result {
    do { return try body() } catch { throw .cryptography }
}

/// Converts a member's failure to an error of opening, creating or copying.
func opening<Result>(
    _ body: () throws(MemberFailure) -> Result
) throws(SQLiteStoreError) -> Result {
    do { return try body() } catch { throw SQLiteStoreError(error) }
}
