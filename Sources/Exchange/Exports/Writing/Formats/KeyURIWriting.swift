internal import OneTimePassword
internal import WatchwordCryptography

/// Writes one key URI per line.
enum KeyURIWriting {
    static func lines(_ entries: [ExportedEntry]) -> SecretBytes {
        var text = SecretText()
        for entry in entries {
            text.append(uri(of: entry))
            text.append("\n")
        }
        return text.bytes
    }

    /// The URI of an entry, with everything that its codes depend on.
    static func uri(of entry: ExportedEntry) -> SecretBytes {
        switch entry.content {
        case .oneTimePassword(let credential): return KeyURI.format(credential)
        case .notComputed(let code):
            let label = KeyURI.label(issuer: code.issuer, account: code.account)
            var text = SecretText()
            switch code.kind {
            // Aegis, which computes these codes, uses these forms.
            case .motp:
                text.append("motp://\(label)?secret=")
                text.append(code.secret)
                if let pin = code.pin {
                    text.append("&pin=")
                    text.append(pin.percentEncoded)
                }
            case .yandex:
                text.append("otpauth://yaotp/\(label)?secret=")
                text.append(Base32.encode(code.secret))
                if !code.issuer.isEmpty { text.append("&issuer=\(code.issuer.percentEncoded)") }
                if let pin = code.pin {
                    text.append("&pin=")
                    text.append(Base32.encode(pin))
                }
            }
            return text.bytes
        }
    }
}

/// A text that is built from parts, some of which are secret.
struct SecretText {
    private var parts: [SecretBytes] = []

    /// The whole text.
    var bytes: SecretBytes { SecretBytes(joining: parts) }

    mutating func append(_ text: String) { append(SecretBytes(copying: Array(text.utf8).span)) }

    mutating func append(_ secret: SecretBytes) { parts.append(secret) }
}
