public import Courier
internal import Cryptography

/// What a device keeps of its enrolment: the secret in use, and what is under way.
///
/// Both the secret in use and the one that is to follow it are kept until the latter has worked once, each
/// with the nonce that it was sent with, so that whatever was lost on the way can be asked again.
public struct EnrolledSecret: Sendable {
    /// A secret, and the nonce that it is presented with once that was chosen.
    public struct Holding: Sendable {
        let secret: SecretBytes
        var nonce: RotationNonce?
    }

    /// Where to sign in.
    public let server: ServerAddress
    /// The authorities to trust instead of the system's, in PEM; empty for the system's.
    public let authorities: [UInt8]
    /// The credential's public name.
    public let credential: Token
    /// When it changed last, in Unix seconds.
    public let changed: Int64
    /// How many secrets were there before the one in use.
    public let generation: UInt64
    let current: Holding
    let successor: Holding?

    /// What came of an enrolment.
    init(
        server: ServerAddress, authorities: [UInt8], credential: Token,
        handed: HelperResponse.HandedSecret, now: Int64
    ) {
        self.init(
            server: server, authorities: authorities, credential: credential, changed: now,
            generation: handed.generation, current: Holding(secret: handed.secret, nonce: nil),
            successor: nil)
    }

    init(
        server: ServerAddress, authorities: [UInt8], credential: Token, changed: Int64,
        generation: UInt64, current: Holding, successor: Holding?
    ) {
        self.server = server
        self.authorities = authorities
        self.credential = credential
        self.changed = changed
        self.generation = generation
        self.current = current
        self.successor = successor
    }

    /// Whether a secret was presented and its answer has not come.
    public var isUnanswered: Bool {
        if let successor { successor.nonce != nil } else { current.nonce != nil }
    }

    /// Whether a successor was handed out that has not worked yet.
    public var hasSuccessor: Bool { successor != nil }
}
