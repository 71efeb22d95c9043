internal import Glibc

/// Loads what zbar would ask the file system for at its first symbol: character converters.
///
/// A process that is about to give up the file system calls this first. The C library keeps a
/// converter loaded for as long as one is open, so these are never closed.
public func prepareSymbolReading() {
    for name in converterNames {
        // One that the system does not have cannot be had later either; zbar lives without it.
        _ = unsafe iconv_open("UTF-8", name)
    }
}

/// The character sets that zbar names (qrdectxt.c): its guesses, and what a symbol can declare itself
/// to be (ECI 0 to 18, 20, 26).
private let converterNames =
    ["UTF-8", "SJIS", "BIG5", "CP437"] + (1...16).map { "ISO8859-\($0)" }
