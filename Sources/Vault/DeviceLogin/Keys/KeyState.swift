public import Courier
internal import SecretVault
package import WatchwordSystem

/// What a device knows about a device key, without the key.
public struct KeyState: Sendable {
    /// Where the private key is, as servers name it.
    public enum Custody: String, CaseIterable, Sendable {
        /// In the vault.
        case vault
        /// In a TPM, as the device says.
        case tpm
        /// In a TPM, as the server has checked.
        case attestedTPM = "tpm-attested"
    }

    /// The server that the key signs in to.
    public let server: ServerAddress
    /// The credential's public name; `nil` until the server has answered the registration.
    public let credential: Token?
    /// When the state last changed, in Unix seconds.
    public let changed: Int64
    /// Where the private key is.
    public let custody: Custody
    /// Whether the TPM requires a PIN before each signature.
    public let requiresPIN: Bool

    /// The state of `key`.
    public init(of key: EnrolledKey) {
        server = key.server
        credential = key.credential
        changed = key.changed
        custody = key.holding.isInTPM ? (key.isAttested ? .attestedTPM : .tpm) : .vault
        requiresPIN = key.holding.requiresPIN
    }
}

extension KeyState: Transferable {
    package func write(to output: FrameWriter) {
        output.append(server, credential, changed, custody, requiresPIN)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        server = try fields.value(bytes)
        credential = try fields.value(bytes)
        changed = try fields.value(bytes)
        custody = try fields.value(bytes)
        requiresPIN = try fields.value(bytes)
    }
}

extension KeyState.Custody: Transferable {}
