internal import Cryptography

/// The keys that prove that this program wrote the contents of a database.
///
/// They authenticate rows and chain events. They are stored outside the database and never change.
public struct AuditKey: Sendable {
    private let events: HMACKey
    let rows: HMACKey

    init(events: SecretBytes, rows: SecretBytes) {
        self.events = HMACKey(events)
        self.rows = HMACKey(rows)
    }

    /// Computes an authentication code over the bytes that `write` produces, for this purpose only.
    func authenticate(
        _ purpose: String, _ write: (inout ByteWriter) -> Void
    ) throws(CryptographyFailure) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(purpose)
        write(&writer)
        return try events.authenticationCode(of: writer.bytes.span)
    }
}
