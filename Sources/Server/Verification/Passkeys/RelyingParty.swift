public import WatchwordCryptography
internal import WatchwordSystem

/// The sites on which passkeys are used, and what the server accepts from them.
public struct RelyingParty: Sendable {
    /// The IDs, which are host names; new passkeys are for the first one.
    public let ids: [String]
    /// The name that authenticators may show.
    public let name: String
    /// The origins from which a page may use passkeys, compared byte for byte.
    public let origins: Set<String>
    /// The origins of pages that may contain a frame in which passkeys are used.
    public let topOrigins: Set<String>
    /// The algorithms of new passkeys, the preferred one first.
    public let algorithms: [SignatureAlgorithm]
    /// Decides whether an authenticator's maker is trusted.
    public let trust: AttestationTrust

    /// Checks the values.
    ///
    /// - Parameters:
    ///   - origins: origins whose host is an ID or a subdomain of one, and names of Android apps
    ///     (`android:apk-key-hash:…`).
    ///   - relatedOrigins: other origins that may use the first ID (WebAuthn Level 3, section 5.11).
    public init(
        ids: [String], name: String, origins: [String], relatedOrigins: [String] = [],
        topOrigins: [String] = [], algorithms: [SignatureAlgorithm] = [.es256, .rs256],
        trust: AttestationTrust = .none
    ) throws(RelyingPartyError) {
        guard !ids.isEmpty, !origins.isEmpty else { throw .missing }
        for id in ids where !WebOrigin.isHost(id) { throw .id(id) }
        for origin in origins + relatedOrigins + topOrigins {
            guard WebOrigin.host(of: origin) != nil || WebOrigin.isAndroidApp(origin) else {
                throw .origin(origin)
            }
            guard Self.isOrigin(origin, of: ids) || !origins.contains(origin) else {
                throw .outOfScope(origin)
            }
        }
        guard !algorithms.isEmpty else { throw .missing }
        self.ids = ids
        self.name = name
        self.origins = Set(origins + relatedOrigins)
        self.topOrigins = Set(topOrigins)
        self.algorithms = algorithms
        self.trust = trust
    }
}

extension RelyingParty {
    /// The ID of passkeys that can be used on a page of this origin; the first ID for an origin outside
    /// the domains.
    public func id(for origin: String) -> String {
        let host = WebOrigin.host(of: origin) ?? ""
        return ids.first { host == $0 || host.hasSuffix("." + $0) } ?? ids[0]
    }

    /// The given ID, or the first one.
    func checkedID(_ id: String?) -> String {
        guard let id else { return ids[0] }
        precondition(ids.contains(id), "the ID must be one of the relying party's")
        return id
    }
}

// Checks of single values, so that a program can say which one it refuses.
extension RelyingParty {
    /// Whether this can be an ID: a host name in lower case.
    public static func isID(_ text: String) -> Bool { WebOrigin.isHost(text) }

    /// Whether this is the origin of a page, as browsers write it.
    public static func isWebOrigin(_ text: String) -> Bool { WebOrigin.host(of: text) != nil }

    /// Whether this is an origin whose host is one of these IDs or a subdomain of one, or an
    /// Android app.
    public static func isOrigin(_ text: String, of ids: [String]) -> Bool {
        guard let host = WebOrigin.host(of: text) else { return WebOrigin.isAndroidApp(text) }
        return ids.contains { host == $0 || host.hasSuffix("." + $0) }
    }
}

/// Why the settings of a relying party are refused.
public enum RelyingPartyError: Error, Hashable, Sendable {
    /// There is no ID, no origin or no algorithm.
    case missing
    /// This ID is not a host name in lower case.
    case id(String)
    /// This is not an origin as browsers write it.
    case origin(String)
    /// This origin's host is neither an ID nor a subdomain of one.
    case outOfScope(String)
}

/// The text form of origins, as browsers write it (RFC 6454, section 6.2).
enum WebOrigin {
    /// The host of an origin: `https://host[:port]`, or `http` for `localhost`.
    ///
    /// - Returns: `nil` for anything that a browser would write in another way.
    static func host(of origin: String) -> String? {
        guard let (host, isEncrypted) = parts(of: origin), isHost(host),
            isEncrypted || isLocal(host)
        else { return nil }
        return host
    }

    /// Whether this is the address of a server: an origin whose host may also be an IP address.
    static func isServer(_ address: String) -> Bool {
        if host(of: address) != nil { return true }
        guard let (host, isEncrypted) = parts(of: address) else { return false }
        guard host.hasPrefix("[") else {
            return NetworkAddress(host) != nil && (isEncrypted || host.hasPrefix("127."))
        }
        let inner = String(host.dropFirst().dropLast())
        return inner.contains(":") && inner == inner.lowercased() && NetworkAddress(inner) != nil
            && (isEncrypted || inner == "::1")
    }

    /// The host of `https://host[:port]` or `http://host[:port]` without a default port, with the
    /// brackets of an IPv6 address, and whether the connection is encrypted.
    private static func parts(of origin: String) -> (host: String, isEncrypted: Bool)? {
        for (scheme, standard) in [("https://", "443"), ("http://", "80")]
        where origin.hasPrefix(scheme) {
            let rest = origin.dropFirst(scheme.count)
            let bracket = rest.hasPrefix("[") ? rest.firstIndex(of: "]") : nil
            let colon = rest[(bracket ?? rest.startIndex)...].firstIndex(of: ":")
            if let colon {
                let port = rest[rest.index(after: colon)...]
                guard let number = UInt16(port), number > 0, String(number) == port,
                    port != standard
                else { return nil }
            }
            let host = rest[..<(colon ?? rest.endIndex)]
            guard bracket == nil || host.hasSuffix("]") else { return nil }
            return (String(host), scheme == "https://")
        }
        return nil
    }

    /// Whether this is a host name in lower case, without a final dot.
    static func isHost(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = labels.last.map { $0.allSatisfy(\.isNumber) } ?? false
        return name.utf8.count <= 253 && !isAddress
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { byte in
                        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d
                    }
            }
    }

    /// Whether this names an Android app by the digest of its certificate.
    static func isAndroidApp(_ origin: String) -> Bool {
        let prefix = "android:apk-key-hash:"
        guard origin.hasPrefix(prefix) else { return false }
        let digest = Array(origin.utf8.dropFirst(prefix.utf8.count))
        do throws(Base64Error) { return try Base64URL.decode(digest.span).count == 32 } catch {
            return false
        }
    }

    private static func isLocal(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost")
    }
}
