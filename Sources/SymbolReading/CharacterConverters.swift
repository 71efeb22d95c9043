internal import Glibc

/// Loads the character converters that zbar would otherwise load from the file system at its first
/// symbol.
///
/// A process calls this before it gives up access to the file system. The C library keeps a
/// converter loaded as long as one is open, so these are never closed.
public func prepareSymbolReading() {
    for name in converterNames {
        // If the system lacks a converter, it will not appear later either; zbar works without it.
        _ = unsafe iconv_open("UTF-8", name)
    }
}

/// The character sets that zbar uses (qrdectxt.c): those that it guesses, and those that a symbol
/// can declare (ECI 0 to 18, 20, 26).
private let converterNames =
    ["UTF-8", "SJIS", "BIG5", "CP437"] + (1...16).map { "ISO8859-\($0)" }
