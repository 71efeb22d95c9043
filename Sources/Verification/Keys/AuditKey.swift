internal import Cryptography

/// What proves that this program wrote what a database holds.
///
/// It authenticates rows and ties events together; it is kept outside the database and never changes.
public struct AuditKey: Sendable {
    private let events: HMACKey
    let rows: HMACKey

    init(events: SecretBytes, rows: SecretBytes) {
        self.events = HMACKey(events)
        self.rows = HMACKey(rows)
    }

    /// Authenticates what `write` writes for this purpose.
    func authenticate(
        _ purpose: String, _ write: (inout ByteWriter) -> Void
    ) throws(CryptographyFailure) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(purpose)
        write(&writer)
        return try events.authenticationCode(of: writer.bytes.span)
    }
}
