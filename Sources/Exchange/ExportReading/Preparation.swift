internal import JSONReading
internal import WatchwordCryptography

/// Loads what reading an export needs from the system, before the process gives up access to files.
///
/// If a library cannot be prepared, only its formats cannot be read. Messages that libraries print
/// to standard error are discarded from then on.
///
/// - Returns: Whether every library is ready.
@discardableResult public func prepareExportReading() -> Bool {
    prepareJSONReading()
    let areReady = [
        isReady {
            try prepareConfinedCryptography()
            try prepareExportCryptography()
            return true
        },
        isReady { try prepareZipReading() }, isReady { try prepareXMLReading() },
        isReady { prepareSQLiteReading() }, isReady { try prepareOpenPGPReading() },
    ]
    return areReady.allSatisfy { $0 }
}

private func isReady(_ prepare: () throws -> Bool) -> Bool {
    do { return try prepare() } catch { return false }
}
