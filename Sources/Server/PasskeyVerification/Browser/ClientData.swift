internal import JSONReading
internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

/// The client data: a browser's description of a ceremony, which the authenticator signs (WebAuthn
/// Level 3, section 5.8.1).
public struct ClientData: Hashable, Sendable {
    /// The type of the ceremony: `webauthn.create` or `webauthn.get`.
    public let type: String
    /// The challenge, encoded in base64url.
    public let challenge: String
    /// The origin of the page.
    public let origin: String
    /// Whether the page is in a frame of a page with a different origin.
    public let isCrossOrigin: Bool
    /// The origin of the page that contains the frame.
    public let topOrigin: String?
    /// SHA-256 of the bytes that the browser sent.
    public let digest: [UInt8]

    /// Why the data is not for this ceremony; `nil` if the data is for it (section 7.1, steps 7 to
    /// 11; section 7.2, steps 10 to 14).
    func denial(
        type expected: String, challenge bytes: [UInt8], at relyingParty: RelyingParty
    ) -> DenialReason? {
        guard type == expected else { return .ceremonyType }
        let (sent, stored) = (Array(challenge.utf8), Array(Base64URL.encode(bytes.span).utf8))
        guard isEqualInConstantTime(sent.span, stored.span) else { return .challenge }
        guard relyingParty.origins.contains(exactly: origin) else { return .origin }
        guard isCrossOrigin else { return topOrigin == nil ? nil : .topOrigin }
        guard !relyingParty.topOrigins.isEmpty else { return .crossOrigin }
        // Some browsers do not state which page contains the frame (Level 3, section 5.8.1).
        guard let topOrigin else { return nil }
        return relyingParty.topOrigins.contains(exactly: topOrigin) ? nil : .topOrigin
    }
}

extension Set<String> {
    /// Whether a member has the same bytes; Swift treats some strings with different bytes as
    /// equal.
    fileprivate func contains(exactly text: String) -> Bool {
        contains { $0.utf8.elementsEqual(text.utf8) }
    }
}

extension ClientData {
    /// The maximum length of the browser's JSON in bytes.
    static let maximumCount = 4_096

    /// Reads the browser's JSON (WebAuthn Level 3, sections 7.1 and 7.2: the steps about
    /// `clientDataJSON`).
    ///
    /// A byte order mark is removed for reading, but is part of the digest. Unknown members
    /// are accepted, because browsers add some.
    ///
    /// - Returns: `nil` if the JSON is malformed, has a duplicate name, or lacks a member.
    public static func read(_ bytes: [UInt8]) -> ClientData? {
        guard bytes.count <= maximumCount else { return nil }
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        let text = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        let value: JSONValue
        do throws(JSONReadingError) {
            value = try readJSON(
                text.span, limits: JSONLimits(bytes: maximumCount, depth: 8, values: 64),
                content: .anyNumbers)
        } catch { return nil }
        guard value.members != nil, let type = value["type"]?.string,
            let challenge = value["challenge"]?.string, let origin = value["origin"]?.string,
            let isCrossOrigin = flag(value["crossOrigin"]),
            isAbsentOrObject(value["tokenBinding"])
        else { return nil }
        var topOrigin: String?
        if let member = value["topOrigin"] {
            guard let text = member.string else { return nil }
            topOrigin = text
        }
        return ClientData(
            type: type, challenge: challenge, origin: origin, isCrossOrigin: isCrossOrigin,
            topOrigin: topOrigin, digest: sha256(bytes.span))
    }

    /// A Boolean; false if the member is absent.
    private static func flag(_ value: JSONValue?) -> Bool? {
        guard let value else { return false }
        return value.truth
    }

    private static func isAbsentOrObject(_ value: JSONValue?) -> Bool {
        guard let value else { return true }
        return value.members != nil
    }
}
