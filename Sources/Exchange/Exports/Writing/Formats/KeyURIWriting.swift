internal import OneTimePassword
internal import QRDrawing
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

    var bytes: SecretBytes { SecretBytes(joining: parts) }

    mutating func append(_ text: String) { append(SecretBytes(copying: Array(text.utf8).span)) }

    mutating func append(_ secret: SecretBytes) { parts.append(secret) }
}

/// Writes Google Authenticator's migration URIs, one for each QR code.
enum MigrationWriting {
    /// The app's own exports have ten entries in each QR code.
    private static let mostEntries = 10

    static func uris(_ entries: [ExportedEntry]) -> [SecretBytes] {
        var parts = parts(entries.compactMap(\.credential))[...]
        var uris: [SecretBytes] = []
        while !parts.isEmpty {
            // If there are too many parts for one export, they become several.
            let set = parts.prefix(MigrationBatch.maximumSize)
            parts = parts.dropFirst(set.count)
            let random = Randomness.bytes(count: 4)
            let id = Int32(bitPattern: random.reduce(0) { $0 << 8 | UInt32($1) })
            for (index, part) in set.enumerated() {
                uris.append(batch(part, size: set.count, index: index, id: id).format())
            }
        }
        return uris
    }

    /// Whether a QR code holds the entry.
    static func fits(_ credential: Credential) -> Bool {
        batch([credential], size: 1, index: 0, id: .max).format().count
            <= ErrorCorrection.low.capacity
    }

    /// Divides the entries so that each part fits into a QR code.
    private static func parts(_ credentials: [Credential]) -> [[Credential]] {
        var parts: [[Credential]] = []
        for credential in credentials {
            if let last = parts.last, last.count < mostEntries,
                batch(last + [credential], size: 1, index: 0, id: .max).format().count
                    <= ErrorCorrection.medium.capacity
            {
                parts[parts.count - 1].append(credential)
            } else {
                parts.append([credential])
            }
        }
        return parts
    }

    private static func batch(
        _ credentials: [Credential], size: Int, index: Int, id: Int32
    ) -> MigrationBatch {
        guard
            let batch = MigrationBatch(credentials: credentials, size: size, index: index, id: id)
        else { preconditionFailure("entries that the format cannot hold are left out") }
        return batch
    }
}

extension ExportedEntry {
    fileprivate var credential: Credential? {
        guard case .oneTimePassword(let credential) = content else { return nil }
        return credential.withoutOtherParameters
    }
}
