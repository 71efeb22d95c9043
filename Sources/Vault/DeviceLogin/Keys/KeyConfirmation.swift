public import Courier
internal import WatchwordCryptography

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
