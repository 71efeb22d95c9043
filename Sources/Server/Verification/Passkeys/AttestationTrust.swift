internal import Attestation
public import WatchwordCryptography

/// Decides whether the maker of an authenticator is trusted.
public struct AttestationTrust: Sendable {
    /// One model of authenticators.
    public struct Model: Sendable {
        /// Its AAGUID: 16 bytes.
        public let id: [UInt8]
        /// The only anchors that are trusted for it; `nil` for the general ones.
        public let anchors: TrustAnchors?

        /// Describes a model.
        public init(id: [UInt8], anchors: TrustAnchors? = nil) {
            self.id = id
            self.anchors = anchors
        }
    }

    private let anchors: TrustAnchors?
    /// The accepted models by their ids; `nil` if all of them are.
    private let models: [[UInt8]: Model]?

    /// Trusts no authenticator.
    public static let none = AttestationTrust(anchors: nil, models: nil)

    /// - Parameters:
    ///   - anchors: the general anchors; without any, only models with anchors of their own are
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
