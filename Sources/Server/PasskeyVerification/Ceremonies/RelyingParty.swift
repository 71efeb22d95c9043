internal import Verification
public import WatchwordCryptography
internal import WatchwordSystem

/// The sites on which passkeys are used, and the server's requirements for passkeys.
public struct RelyingParty: Sendable {
    /// The IDs, which are host names; new passkeys are for the first ID.
    public let ids: [String]
    /// The name that authenticators may show.
    public let name: String
    /// The origins of pages that may use passkeys, compared byte for byte.
    public let origins: Set<String>
    /// The origins of pages that may contain a frame in which passkeys are used.
    public let topOrigins: Set<String>
    /// The algorithms of new passkeys, the preferred one first.
    public let algorithms: [SignatureAlgorithm]
    /// The decision whether an authenticator's maker is trusted.
    public let trust: AttestationTrust

    /// Checks the values.
    ///
    /// - Parameters:
    ///   - origins: origins whose host is an ID or a subdomain of one, and the names of Android
    ///     apps (`android:apk-key-hash:…`).
    ///   - relatedOrigins: other origins that may use the first ID (WebAuthn Level 3, section
    ///     5.11).
    public init(
        ids: [String], name: String, origins: [String], relatedOrigins: [String] = [],
        topOrigins: [String] = [], algorithms: [SignatureAlgorithm] = [.es256, .rs256],
        trust: AttestationTrust = .none
    ) throws(PasskeyError) {
        guard !ids.isEmpty, !origins.isEmpty else { throw .incompleteRelyingParty }
        for id in ids where !WebOrigin.isHost(id) { throw .id(id) }
        for origin in origins + relatedOrigins + topOrigins {
            guard WebOrigin.host(of: origin) != nil || WebOrigin.isAndroidApp(origin) else {
                throw .origin(origin)
            }
            guard Self.isOrigin(origin, of: ids) || !origins.contains(origin) else {
                throw .originOutOfScope(origin)
            }
        }
        guard !algorithms.isEmpty else { throw .incompleteRelyingParty }
        self.ids = ids
        self.name = name
        self.origins = Set(origins + relatedOrigins)
        self.topOrigins = Set(topOrigins)
        self.algorithms = algorithms
        self.trust = trust
    }
}

extension RelyingParty {
    /// The ID of passkeys that can be used on a page of this origin; the first ID for an origin
    /// outside the domains.
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

// Checks of single values, so that a program can report which value it refuses.
extension RelyingParty {
    /// Whether the text can be an ID: a host name in lower case.
    public static func isID(_ text: String) -> Bool { WebOrigin.isHost(text) }

    /// Whether the text is the origin of a page, in the form that browsers use.
    public static func isWebOrigin(_ text: String) -> Bool { WebOrigin.host(of: text) != nil }

    /// Whether the text is an origin whose host is one of these IDs or a subdomain of one, or an
    /// Android app.
    public static func isOrigin(_ text: String, of ids: [String]) -> Bool {
        guard let host = WebOrigin.host(of: text) else { return WebOrigin.isAndroidApp(text) }
        return ids.contains { host == $0 || host.hasSuffix("." + $0) }
    }
}

/// Decides whether the maker of an authenticator is trusted.
public struct AttestationTrust: Sendable {
    /// A model of authenticators, and the anchors that vouch for it.
    public struct Model: Sendable {
        /// The AAGUID: 16 bytes.
        public let id: [UInt8]
        /// The only anchors that are trusted for this model; `nil` for the general ones.
        public let anchors: TrustAnchors?

        /// Takes the AAGUID and the anchors for this model.
        public init(id: [UInt8], anchors: TrustAnchors? = nil) {
            self.id = id
            self.anchors = anchors
        }
    }

    private let anchors: TrustAnchors?
    /// The accepted models by their AAGUIDs; `nil` if all models are accepted.
    private let models: [[UInt8]: Model]?

    /// Trusts no maker: every attestation is untrusted.
    public static let none = AttestationTrust(anchors: nil, models: nil)

    /// - Parameters:
    ///   - anchors: the general anchors; without any, only models with their own anchors are
    ///     trusted.
    ///   - models: the only models that are trusted; `nil` if all of them are.
    public init(anchors: TrustAnchors?, models: [Model]?) {
        self.anchors = anchors
        self.models = models.map { models in
            Dictionary(models.map { ($0.id, $0) }) { first, _ in first }
        }
    }

    /// Whether the certificates chain to an anchor, and their model is listed if there is a list.
    func isTrusted(
        _ certificates: AttestationCertificates, at now: UnixTime
    ) throws(CryptographyFailure) -> Bool {
        var anchors = anchors
        if let models {
            guard let model = models[certificates.model] else { return false }
            anchors = model.anchors ?? anchors
        }
        guard let anchors, certificates.isKeyInHardware else { return false }
        return try anchors.check(certificates.chain, at: now.seconds) == .anchored
    }
}
