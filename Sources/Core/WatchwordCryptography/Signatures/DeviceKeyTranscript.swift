/// The bytes that a device key signs.
///
/// Each field is preceded by its length in two bytes, except for the last two, so that no two lists
/// of fields have the same bytes. A device key never signs anything else.
public struct DeviceKeyTranscript: Hashable, Sendable {
    /// How the device checked that somebody is present.
    ///
    /// It is the device's own claim.
    public enum Presence: UInt8, CaseIterable, Sendable {
        /// The device asked for no check.
        case none = 0
        /// The process that signs asked for the check.
        case advisory = 1
        /// The key could not be used without passing the check.
        case cryptographic = 2
        /// A process of a different user asked for the check.
        case enforced = 3
    }

    /// A challenge of the server.
    public struct Challenge: Hashable, Sendable {
        /// The random bytes of the challenge's token.
        public let bytes: [UInt8]
        /// When it expires, in Unix milliseconds, as the server states it.
        public let expiry: UInt64

        /// Returns `nil` unless there are exactly 32 bytes.
        public init?(_ bytes: [UInt8], expiry: UInt64) {
            guard bytes.count == 32 else { return nil }
            self.bytes = bytes
            self.expiry = expiry
        }

        /// The digest of a ticket, which takes the place of a challenge and states no expiry.
        fileprivate init(digest: [UInt8]) {
            bytes = digest
            expiry = 0
        }
    }

    /// Where a signature is valid, and under which circumstances it was made.
    public struct Scope: Hashable, Sendable {
        /// The address that the device connected to: `https://host[:port]` in its normal form.
        public let audience: String
        /// How the device checked that somebody is present.
        public let presence: Presence

        /// Returns `nil` unless the address has 1 to 1,024 bytes.
        public init?(audience: String, presence: Presence) {
            guard (1...1024).contains(audience.utf8.count) else { return nil }
            self.audience = audience
            self.presence = presence
        }
    }

    /// The maximum number of lines of a text to confirm.
    ///
    /// More lines could scroll the first ones away before somebody answers.
    public static let maximumLines = 20

    /// The lines of a text to confirm.
    public static func lines(of text: String) -> [Substring] {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { Substring($0) }
    }

    /// The bytes that the device key signs.
    public let bytes: [UInt8]

    /// Registers the key with `point`, 65 bytes, using a ticket.
    ///
    /// - Parameter ticket: The ticket's text.
    public static func enrolment(
        _ scope: Scope, ticket: SecretBytes, point: [UInt8]
    ) -> DeviceKeyTranscript {
        DeviceKeyTranscript(
            "enrol", scope, credential: "",
            challenge: Challenge(digest: ticket.withBytes { text in sha256(text) }),
            context: sha256(point.span))
    }

    /// Signs in with `credential`.
    public static func signIn(
        _ scope: Scope, credential: String, challenge: Challenge
    ) -> DeviceKeyTranscript {
        DeviceKeyTranscript(
            "sign-in", scope, credential: credential, challenge: challenge, context: [])
    }

    /// Confirms text that was shown.
    public static func confirmation(
        _ scope: Scope, credential: String, challenge: Challenge, text: String
    ) -> DeviceKeyTranscript {
        confirmation(
            scope, credential: credential, challenge: challenge,
            textDigest: sha256(Array(text.utf8).span))
    }

    /// Confirms the text with this SHA-256 digest.
    public static func confirmation(
        _ scope: Scope, credential: String, challenge: Challenge, textDigest: [UInt8]
    ) -> DeviceKeyTranscript {
        DeviceKeyTranscript(
            "confirm", scope, credential: credential, challenge: challenge, context: textDigest)
    }

    private init(
        _ purpose: StaticString, _ scope: Scope, credential: String, challenge: Challenge,
        context: [UInt8]
    ) {
        var bytes: [UInt8] = []
        for field in [
            Array("watchword device key 1".utf8), Array(purpose.description.utf8),
            Array(scope.audience.utf8), Array(credential.utf8), challenge.bytes, context,
        ] {
            precondition(field.count <= Int(UInt16.max), "a field fits its length")
            bytes.append(UInt8(field.count >> 8))
            bytes.append(UInt8(field.count & 0xff))
            bytes += field
        }
        bytes.append(scope.presence.rawValue)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: challenge.expiry >> shift))
        }
        self.bytes = bytes
    }
}

extension DeviceKeyTranscript.Presence {
    /// The name in requests and responses.
    public var word: String {
        switch self {
        case .none: "none"
        case .advisory: "advisory"
        case .cryptographic: "cryptographic"
        case .enforced: "enforced"
        }
    }

    /// Returns `nil` for a word that names no kind of presence.
    public init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }
}
