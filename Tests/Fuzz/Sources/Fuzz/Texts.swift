import Exports
import OneTimePassword
import WatchwordCryptography

/// Parses the bytes as a key URI; an accepted URI must be written in a form that parses to the same
/// credential without warnings.
func fuzzKeyURI(_ bytes: [UInt8]) {
    guard let lenient = keyURI(bytes, .lenient) else {
        precondition(keyURI(bytes, .strict) == nil, "a strict reading also refuses it")
        return
    }
    precondition(
        (keyURI(bytes, .strict) == nil) == !lenient.warnings.isEmpty,
        "a strict reading fails if and only if there are warnings")
    let written = KeyURI.format(lenient.credential)
    guard let again = written.withBytes({ keyURI(copy($0), .lenient) }) else {
        preconditionFailure("a URI that we wrote was refused")
    }
    // A parameter of the other type is kept unchanged, and a credential without a name has no
    // label.
    let isNamed = !(lenient.credential.issuer.isEmpty && lenient.credential.account.isEmpty)
    precondition(
        !isNamed || again.warnings.allSatisfy { isTolerated($0, in: lenient.warnings) },
        "a URI that we wrote gives new warnings")
    precondition(KeyURI.format(again.credential) == written, "a written URI round-trips")
}

/// Whether a URI that caused `warnings` may cause `warning` after it is written and read again.
///
/// Unknown parameters are kept, but in other positions.
private func isTolerated(_ warning: KeyURIWarning, in warnings: [KeyURIWarning]) -> Bool {
    guard case .unknownParameter = warning else { return warnings.contains(warning) }
    return warnings.contains { if case .unknownParameter = $0 { true } else { false } }
}

/// Decodes the bytes as Base32; accepted text must be written back.
func fuzzBase32(_ bytes: [UInt8]) {
    for padding in [Base32.Padding.required, .omitted] {
        do {
            let secret = try Base32.decode(bytes.span, padding: padding)
            let again = Base32.encode(secret, padding: padding)
            precondition(again == SecretBytes(copying: bytes.span), "bytes have only one text form")
        } catch {
            // Refusing the input is correct.
        }
    }
    do {
        let (secret, _) = try Base32.decodeTolerantly(bytes.span)
        let strictly = try Base32.encode(secret).withBytes { text throws(OneTimePasswordError) in
            try Base32.decode(text, padding: .omitted)
        }
        precondition(strictly == secret, "bytes round-trip")
    } catch .notStrict {
        preconditionFailure("text that we wrote failed a strict reading")
    } catch {
        // Refusing the input is correct.
    }
}

/// Parses the bytes as a part of Google's export: as the URI, and as the message inside it.
func fuzzMigration(_ bytes: [UInt8]) {
    takeMigration(bytes)
    takeMigration(Array("otpauth-migration://offline?data=".utf8) + base64(bytes))
}

/// Parses the bytes as a file of otpauth lines; each line must be reported under its number.
func fuzzLines(_ bytes: [UInt8]) {
    var last = 0
    for line in OTPAuthLines(SecretBytes(copying: bytes.span)).lines {
        precondition(line.number > last, "lines are in order")
        last = line.number
    }
}

private func keyURI(_ bytes: [UInt8], _ reading: KeyURI.Reading) -> KeyURI? {
    do { return try KeyURI(parsing: bytes.span, reading: reading) } catch { return nil }
}

private func takeMigration(_ bytes: [UInt8]) {
    // Refusing the input is correct.
    guard let batch = parsed(bytes.span) else { return }
    precondition(batch.index < batch.size, "a part's index is less than the number of parts")
    let copy = MigrationBatch(
        credentials: batch.credentials, size: batch.size, index: batch.index, id: batch.id)
    guard let written = copy?.format() else {
        preconditionFailure("an export that we read cannot be written")
    }
    guard let again = written.withBytes({ parsed($0) }) else {
        preconditionFailure("an export that we wrote was refused")
    }
    precondition(again.credentials.count == batch.credentials.count, "no entry is lost")
    precondition(again.format() == written, "a written export round-trips")
}

private func parsed(_ text: Span<UInt8>) -> MigrationBatch? {
    do { return try MigrationBatch(parsing: text) } catch { return nil }
}

private func copy(_ bytes: Span<UInt8>) -> [UInt8] { bytes.indices.map { bytes[$0] } }

/// Percent-encoded Base64: characters that a query must not contain are escaped.
private func base64(_ bytes: [UInt8]) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
        for position in 0...group.count {
            let byte = alphabet[bits >> (18 - 6 * position) & 63]
            switch byte {
            case UInt8(ascii: "+"): text += "%2B"
            case UInt8(ascii: "/"): text += "%2F"
            default: text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        text += String(repeating: "%3D", count: 3 - group.count)
    }
    return Array(text.utf8)
}
