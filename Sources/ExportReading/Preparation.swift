internal import Cryptography
internal import ExportCryptography
internal import JSONReading
internal import OpenPGPReading
internal import SQLiteReading
internal import XMLReading
internal import ZipReading

/// Loads what reading an export needs from the system, before the process gives up files.
///
/// What a library of one format cannot load only prevents reading that format. Messages that
/// libraries print to standard error are discarded from now on.
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
