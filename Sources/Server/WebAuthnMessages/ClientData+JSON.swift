internal import JSONReading
public import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

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

    /// A Boolean, which is false if it is absent.
    private static func flag(_ value: JSONValue?) -> Bool? {
        guard let value else { return false }
        return value.truth
    }

    private static func isAbsentOrObject(_ value: JSONValue?) -> Bool {
        guard let value else { return true }
        return value.members != nil
    }
}
