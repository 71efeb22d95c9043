internal import OneTimePassword
internal import QRDrawing
internal import WatchwordCryptography

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
