internal import Exports
internal import OneTimePassword
internal import WatchwordCoding
internal import WatchwordCryptography

/// gauth's text: lines `name:base32`, or key URIs.
enum GauthFormat {
    /// The length in bytes that secrets must have, because short words are Base32 too.
    private static let plausibleCount = 10
    /// The same for secrets after a space, because configuration files have a space after a colon.
    private static let plausibleCountAfterSpace = 20

    /// Whether each line is a key URI or a name and a Base32 secret.
    ///
    /// Every secret must have a plausible length, or only one if the text was decrypted, because a
    /// wrong password hardly ever yields such lines.
    static func isRecognised(_ text: Span<UInt8>, isDecrypted: Bool = false) -> Bool {
        var lines = TextLines(text)
        var isPlausible = false
        var count = 0
        while let line = lines.next(in: text) {
            let content = text.extracting(line.range)
            if KeyURI.isKeyURI(content) {
                isPlausible = true
            } else {
                guard let colon = colon(of: content) else { return false }
                let isSecret = isPlausibleSecret(content.extracting((colon + 1)...))
                guard isSecret || isDecrypted else { return false }
                isPlausible = isPlausible || isSecret
            }
            // A longer list is refused anyway.
            count += 1
            if count > ExportLimits.current.rows(of: .gauth) { break }
        }
        return isPlausible
    }

    private static func isPlausibleSecret(_ text: Span<UInt8>) -> Bool {
        text.base32Count >= (text[0].isASCIISpace ? plausibleCountAfterSpace : plausibleCount)
    }

    static func read(_ text: SecretBytes) throws(ExportError) -> ExportRows {
        var rows = ExportRows(.gauth)
        try rows.append(linesOf: text, filling: fill)
        return rows
    }

    private static func fill(
        _ row: inout ExportRow, _ line: Span<UInt8>
    ) throws(ExportRowRefusal) {
        if KeyURI.isKeyURI(line) {
            row.secret = .field(SecretBytes(copying: line))
            return
        }
        guard let colon = colon(of: line) else { throw .malformed }
        row.issuer = try SecretBytes(copying: line.extracting(..<colon)).name()
        row.secret = .base32(SecretBytes(copying: line.extracting((colon + 1)...)))
    }

    /// The colon before a Base32 secret.
    private static func colon(of line: Span<UInt8>) -> Int? {
        guard let colon = line.indices.last(where: { line[$0] == UInt8(ascii: ":") }) else {
            return nil
        }
        return line.extracting((colon + 1)...).isBase32 ? colon : nil
    }
}

extension Span<UInt8> {
    /// Whether the text is Base32 in any form that apps write, and not empty.
    var isBase32: Bool { base32Count > 0 }

    /// The number of bytes that the text encodes in any form of Base32 that apps write; 0 for any
    /// other text.
    fileprivate var base32Count: Int {
        guard let decoded = SecretBytes(copying: self).decodedBase32() else { return 0 }
        return decoded.secret.count
    }
}

/// gauth's encrypted file, as `openssl enc -aes-128-cbc -md sha256` writes it.
enum GauthContainer {
    /// Returns the decrypted lines.
    static func open(
        _ file: SecretBytes, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        var parts = BinaryParts(file, .gauth)
        guard try parts.take(8) == SecretBytes(Array("Salted__".utf8)) else {
            throw .damaged(.gauth)
        }
        let salt = try parts.take(8)
        let ciphertext = try parts.rest()
        let decryption = Decryption(.gauth)
        let derived = decryption.digest(.sha256, of: SecretBytes(joining: [password, salt]))
        let lines = try decryption.openCBC(
            ciphertext, key: derived.part(0..<16), vector: derived.part(16..<32))
        let text = try decryption.checkedText(lines)
        guard text.withBytes({ GauthFormat.isRecognised($0, isDecrypted: true) }) else {
            throw .wrongPassword(.gauth)
        }
        return text
    }
}

/// cotp's database, and its export, which is the same without encryption.
enum CotpFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard document["cipher"] != nil else { return try rows(document) }
        return try rows(try ExportFormat.cotp.decrypted(document, password, CotpContainer.open))
    }

    private static func rows(_ database: JSONValue) throws(ExportError) -> ExportRows {
        // The first version was only the list.
        if let version = database["version"] {
            guard let version = version.wholeNumber else { throw .damaged(.cotp) }
            guard version <= 2 else { throw .newerVersion(.cotp) }
        }
        guard let elements = database.elements ?? database["elements"]?.elements else {
            throw .damaged(.cotp)
        }
        var rows = ExportRows(.cotp)
        try rows.append(
            elements,
            fields: [
                .issuer("issuer"), .account("label"), .type("type"), .base32("secret"),
                .algorithm("algorithm"), .digits("digits"), .period("period"), .counter("counter"),
                // The app computes Mobile-OTP codes from the text itself.
                .pin("pin"), .motp(.asWritten),
            ])
        return rows
    }
}

/// cotp's encrypted database.
///
/// An object with `version` 1 and three texts in Base64: `nonce` (24 bytes), `salt` (16 bytes) and
/// `cipher`, which is XChaCha20-Poly1305 without associated data. The key is Argon2id of the
/// password with 32 MiB, 4 passes and 4 lanes; the file does not state these costs.
enum CotpContainer {
    /// Returns the JSON of the database.
    static func open(
        _ document: JSONValue, password: SecretBytes
    ) throws(ExportError) -> SecretBytes {
        let file = ContainerFields(document, .cotp)
        guard try file.number("version") == 1 else { throw .newerVersion(.cotp) }
        let nonce = try file.base64("nonce", count: 24)
        let salt = try file.base64("salt")
        let sealed = try file.base64("cipher")
        let decryption = Decryption(.cotp)
        let key = try decryption.derive(
            Argon2(.id, kibibytes: 32 << 10, passes: 4, lanes: 4), password, salt: salt)
        return try decryption.open(
            sealed, key: key, nonce: nonce, with: openXChaCha20Poly1305)
    }
}
