internal import JSONReading
internal import WatchwordCryptography

/// Loads what reading an export needs from the system, before the process gives up access to files.
///
/// If a library cannot be prepared, only its formats cannot be read. Messages that libraries print
/// to standard error are discarded from then on.
///
/// - Returns: Whether every library is ready.
@discardableResult public func prepareExportReading() -> Bool {
    var isReady = true
    prepareJSONReading()
    do {
        try prepareConfinedCryptography()
        try prepareExportCryptography()
    } catch {
        isReady = false
    }
    for isLibraryReady in [
        prepareZipReading(), prepareXMLReading(), prepareSQLiteReading(), prepareOpenPGPReading(),
    ] where !isLibraryReady {
        isReady = false
    }
    return isReady
}
