import Exports
import OneTimePassword
import WatchwordCryptography

/// Classifies the lines of a text that may be a list of URIs.
///
/// Only the reader of exports can interpret the dialects of other apps. A list is read without this
/// reader only if each URI has the same meaning in every dialect.
struct URILines {
    /// Whether the first line that is not a comment is a URI of a one-time password.
    private(set) var startWithURI = false
    /// Whether all lines can be read without the reader of exports.
    private(set) var arePlain = true
    /// Whether a line is part of a Google Authenticator export.
    private(set) var haveMigrations = false

    private static let schemes = [
        "otpauth:", "otpauth-migration:", "apple-otpauth:", "motp:", "steam:",
    ]

    init(_ text: Span<UInt8>) {
        var lines = TextLines(text)
        var isFirst = true
        while let found = lines.next(in: text) {
            let line = text.extracting(found.range)
            guard line[0] != UInt8(ascii: "#") else { continue }
            let isURI = Self.schemes.contains { line.hasPrefixIgnoringCase($0) }
            if isFirst { startWithURI = isURI }
            isFirst = false
            if MigrationBatch.isMigrationURI(line) {
                haveMigrations = true
            } else if KeyURI.isKeyURI(line) {
                arePlain = arePlain && Self.isPlain(line)
            } else {
                arePlain = arePlain && !isURI && line.count(of: "://") == 0
            }
        }
    }

    /// Whether a key URI has only parts that all apps write in the same way.
    private static func isPlain(_ line: Span<UInt8>) -> Bool {
        let isTimed = line.hasPrefixIgnoringCase("otpauth://totp/")
        guard isTimed || line.hasPrefixIgnoringCase("otpauth://hotp/") else { return false }
        // One app writes several URIs per line, and several apps mark Steam codes.
        guard line.count(of: "://") == 1, line.count(of: "steam") == 0 else { return false }
        var start = line.firstIndex(of: UInt8(ascii: "?"), in: line.indices) ?? line.count
        while start < line.count {
            start += 1
            let end =
                line.firstIndex(of: UInt8(ascii: "&"), in: start..<line.count) ?? line.count
            guard isPlain(parameter: line.extracting(start..<end), isTimed: isTimed) else {
                return false
            }
            start = end
        }
        return true
    }

    private static func isPlain(parameter: Span<UInt8>, isTimed: Bool) -> Bool {
        let equals = parameter.firstIndex(of: UInt8(ascii: "="), in: parameter.indices)
        let name = parameter.extracting(..<(equals ?? parameter.count))
        let value = parameter.extracting(min((equals ?? parameter.count) + 1, parameter.count)...)
        switch String(decoding: [UInt8](copying: name), as: UTF8.self).lowercased() {
        case "secret", "algorithm", "digits": return true
        // Ente wrote `issuer=Acmeperiod=30`.
        case "issuer": return value.count(of: "=") == 0
        case "period": return isTimed
        case "counter": return !isTimed && value.count(of: "-") == 0
        default: return false
        }
    }
}

extension SecretBytes {
    /// The text without the lines that are parts of a Google Authenticator export.
    var withoutMigrations: SecretBytes {
        withBytes { text in
            // A last line without a line break gets one.
            SecretBytes(capacity: text.count + 1) { output in
                var lines = TextLines(text)
                var number = 1
                while let found = lines.next(in: text) {
                    let line = text.extracting(found.range)
                    guard !MigrationBatch.isMigrationURI(line) else { continue }
                    // Keep the line numbers of the original text.
                    while number < found.number {
                        output.append(UInt8(ascii: "\n"))
                        number += 1
                    }
                    output.append(copying: line)
                }
                output.append(UInt8(ascii: "\n"))
            }
        }
    }
}

extension Span<UInt8> {
    /// The number of occurrences of `word`, ignoring case; `word` is lower-case ASCII.
    fileprivate func count(of word: String) -> Int {
        guard let first = word.utf8.first else { return 0 }
        let other = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) ? first & ~0x20 : first
        return indices.count { index in
            (self[index] == first || self[index] == other)
                && extracting(index...).hasPrefixIgnoringCase(word)
        }
    }
}
