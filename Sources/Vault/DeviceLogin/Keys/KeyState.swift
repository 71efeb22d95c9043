public import Courier
internal import SecretVault
internal import WatchwordCryptography
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

/// A text that an application asks a device key to sign.
public struct KeyConfirmation: Sendable {
    /// The server's challenge.
    public let challenge: HelperResponse.KeyChallenge
    /// The text, which the device has shown.
    public let text: String

    /// The maximum size of a file with a confirmation in bytes.
    public static let largestFile = 4 << 10

    /// Parses what an application hands to the device.
    ///
    /// The first line is the challenge, the second one `expires_ms`, and the rest is the text. One
    /// line feed at the end is not part of the text.
    ///
    /// - Returns: `nil` if the lines have another form, or if the text is blank or has too many lines.
    public init?(parsing file: String) {
        let parts = file.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let token = Token(String(parts[0])), token.text.hasPrefix("wwx_"),
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let expiry = UInt64(parts[1])
        else { return nil }
        challenge = HelperResponse.KeyChallenge(token: token, expiry: expiry)
        text = String(parts[2].hasSuffix("\n") ? parts[2].dropLast() : parts[2])
        guard challenge.bytes != nil, lines.count <= DeviceKeyTranscript.maximumLines,
            text.contains(where: { !$0.isWhitespace })
        else { return nil }
    }

    /// The file, with a line feed at the end.
    var file: String { "\(challenge.token.text)\n\(challenge.expiry)\n\(text)\n" }

    /// The lines of the text.
    public var lines: [Substring] { DeviceKeyTranscript.lines(of: text) }
}
