public import Courier
internal import WatchwordCryptography

/// The state of an enrolment on the device: the secret in use, and its successor.
///
/// Both are kept until the successor has worked once, each with the nonce that it was sent with, so
/// that every lost response can be requested again.
public struct EnrolledSecret: Sendable {
    /// A secret and, once chosen, the nonce to present it with.
    public struct StoredSecret: Sendable {
        let secret: SecretBytes
        var nonce: RotationNonce?
    }

    /// The server to sign in to.
    public let server: ServerAddress
    /// The certificate authorities to trust, in PEM; empty for the system's.
    public let authorities: [UInt8]
    /// The credential's public name.
    public let credential: Token
    /// When the state last changed, in Unix seconds.
    public let changed: Int64
    /// How many secrets preceded the one in use.
    public let generation: UInt64
    let current: StoredSecret
    let successor: StoredSecret?
    /// The stored form of the device key that replaces this secret as soon as the server has
    /// registered it.
    var next: SecretBytes?

    /// The state after an enrolment.
    init(
        server: ServerAddress, authorities: [UInt8], credential: Token,
        handed: HelperResponse.NextSecret, now: Int64
    ) {
        self.init(
            server: server, authorities: authorities, credential: credential, changed: now,
            generation: handed.generation, current: StoredSecret(secret: handed.secret, nonce: nil),
            successor: nil)
    }

    init(
        server: ServerAddress, authorities: [UInt8], credential: Token, changed: Int64,
        generation: UInt64, current: StoredSecret, successor: StoredSecret?,
        next: SecretBytes? = nil
    ) {
        self.server = server
        self.authorities = authorities
        self.credential = credential
        self.changed = changed
        self.generation = generation
        self.current = current
        self.successor = successor
        self.next = next
    }

    /// Whether a secret has been presented and no response has arrived.
    public var isUnanswered: Bool {
        if let successor { successor.nonce != nil } else { current.nonce != nil }
    }

    /// Whether a successor has been issued but has not yet been accepted.
    public var hasSuccessor: Bool { successor != nil }
}
