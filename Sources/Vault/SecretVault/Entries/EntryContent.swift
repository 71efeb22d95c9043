public import OneTimePassword
public import WatchwordCryptography

/// An entry with its secret.
public enum EntryContent: Sendable {
    /// A one-time password.
    case oneTimePassword(Credential)
    /// A password, a recovery code or any other bytes.
    case plainSecret(issuer: String, account: String, value: SecretBytes)
    /// A secret that a service issued to this device for signing in. The caller defines the bytes.
    case enrolledSecret(issuer: String, account: String, value: SecretBytes)
    /// A code of a kind that Watchword stores, but does not compute.
    case uncomputed(UncomputedCode)

    /// The issuer; may be empty.
    public var issuer: String {
        switch self {
        case .oneTimePassword(let credential): credential.issuer
        case .plainSecret(let issuer, _, _), .enrolledSecret(let issuer, _, _): issuer
        case .uncomputed(let code): code.issuer
        }
    }

    /// The account; may be empty.
    public var account: String {
        switch self {
        case .oneTimePassword(let credential): credential.account
        case .plainSecret(_, let account, _), .enrolledSecret(_, let account, _): account
        case .uncomputed(let code): code.account
        }
    }

    /// The kind of entry.
    public var kind: EntryKind { traits.kind }

    var traits: EntryTraits {
        switch self {
        case .oneTimePassword(let credential):
            switch credential.movingFactor {
            case .time(let step): .totp(credential.algorithm, credential.style, step)
            case .counter: .hotp(credential.algorithm, credential.style)
            }
        case .plainSecret: .secret
        case .enrolledSecret: .enrolled
        case .uncomputed(let code): .uncomputed(code.kind)
        }
    }

    var payload: RecordPayload {
        switch self {
        case .oneTimePassword(let credential):
            switch credential.movingFactor {
            case .time:
                .totp(key: credential.key, parameters: credential.otherParameters)
            case .counter(let counter):
                .hotp(
                    counter: counter, key: credential.key,
                    parameters: credential.otherParameters)
            }
        case .plainSecret(_, _, let value), .enrolledSecret(_, _, let value): .bytes(value)
        case .uncomputed(let code): .uncomputed(secret: code.secret, pin: code.pin)
        }
    }
}

/// The kind of an entry.
public enum EntryKind: String, CaseIterable, Hashable, Sendable {
    /// A time-based one-time password.
    case totp
    /// A counter-based one-time password.
    case hotp
    /// A plain secret: a password, a recovery code or any other bytes.
    case secret
    /// A secret that a service issued to this device for signing in.
    case enrolled
    /// A Mobile-OTP code, which is stored but not computed.
    case motp
    /// A Yandex Key code, which is stored but not computed.
    case yandex

    /// Whether Watchword stores codes of this kind, but does not compute them.
    public var isUncomputed: Bool { self == .motp || self == .yandex }
}
