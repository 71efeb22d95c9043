public import OneTimePassword
public import WatchwordCryptography

/// An entry as a list may show it: everything except the secret.
public struct EntrySummary: Hashable, Sendable {
    /// The entry's ID, which never changes.
    public let id: RecordID
    /// The presence check that the entry requires, and the consequence of failed checks.
    public let accessControl: AccessControl
    /// When and why its secret was wiped, if it was.
    public let tombstone: Tombstone?
    /// Whether its secret was wiped without the vault key, and neither the manifest nor the counted
    /// failures prove the wipe: anyone who can write the file may have made the tombstone.
    public internal(set) var hasVanished = false
    /// The device that its secret is bound to; `nil` if the entry is not bound or was wiped.
    public internal(set) var binding: EntryBinding?
    let properties: EntryProperties

    /// Whether the entry is a one-time password, a static secret, an enrolled secret or a code that
    /// is only stored.
    public var kind: EntryKind { properties.traits.kind }
    /// The issuer; may be empty.
    public var issuer: String { properties.issuer }
    /// The account; may be empty.
    public var account: String { properties.account }
    /// The hash function of a one-time password; `nil` for other kinds.
    public var algorithm: HashAlgorithm? { properties.traits.algorithm }
    /// The length and format of a one-time password's codes; `nil` for other kinds.
    public var style: CodeStyle? { properties.traits.style }
    /// The time step of a time-based code; `nil` for other kinds.
    public var timeStep: TimeStep? { properties.traits.timeStep }
    /// When the entry was added, in Unix seconds.
    public var created: Int64 { properties.created }
    /// The last edit of its name, content, access control or details.
    public var edited: EntryEdit { properties.edited }
    /// The entry's tags, note, icon and favourite mark.
    public var details: EntryDetails { properties.details }

    /// The period of a time-based code, in seconds.
    public var period: Int64? { timeStep?.period }

    /// Whether each use requires a presence check; `false` for a wiped entry, but not for one that
    /// has vanished.
    public var requiresCheckPerUse: Bool {
        accessControl.presence.isPerUse && (tombstone == nil || hasVanished)
    }
}

/// Replaces the secret of a wiped record.
public struct Tombstone: Hashable, Sendable {
    /// The reason why a record was wiped.
    public enum Reason: String, CaseIterable, Hashable, Sendable {
        /// Too many checks or passphrases in a row failed.
        case failures
        /// The service reported that the secret was revoked.
        case revoked
        /// The service reported that someone else used the secret.
        case reuseDetected = "reuse-detected"
        /// The service reported too many wrong secrets.
        case tooManyFailures = "too-many-failures"
        /// The service reported that the account is closed.
        case accountClosed = "account-closed"
    }

    /// When the record was wiped, in Unix seconds.
    public let time: Int64
    /// The reason why the record was wiped.
    public let reason: Reason
}

/// A record's sealed secret, or the tombstone that replaced it.
enum RecordBody {
    /// The sealed box in Base64.
    case sealed(ArraySlice<UInt8>)
    case tombstone(Tombstone)

    /// Writes the line of the record `id`.
    func write(of id: RecordID, to text: inout VaultText) {
        switch self {
        case .sealed(let box):
            text.write("sealed ")
            text.writeBase64(id.bytes)
            text.write(" ")
            text.write(box)
        case .tombstone(let tombstone):
            text.write("tombstone ")
            text.writeBase64(id.bytes)
            text.write(" \(tombstone.time) \(tombstone.reason.rawValue)")
        }
        text.endLine()
    }
}

extension RecordBody {
    /// Reads the line of the record whose ID is the word `id` of another line.
    init(reading line: inout LineReader, of id: Range<Int>) throws(VaultError) {
        if line.isLine("sealed") {
            try line.skip("sealed")
            guard line.areEqual(try line.word(), id) else { throw line.damaged }
            self = .sealed(line.bytes[try line.lastWord()])
        } else {
            try line.skip("tombstone")
            guard line.areEqual(try line.word(), id) else { throw line.damaged }
            let time = Int64(try line.count())
            let word = try line.lastWord()
            let text = String(decoding: line.bytes[word], as: UTF8.self)
            guard let reason = Tombstone.Reason(rawValue: text) else { throw line.damaged }
            self = .tombstone(Tombstone(time: time, reason: reason))
        }
    }
}

/// An entry's name, its secret and the parameters of its codes.
public enum EntryContent: Sendable {
    /// A time-based or counter-based one-time password.
    case oneTimePassword(Credential)
    /// A password, a recovery code or any other bytes.
    case plainSecret(issuer: String, account: String, value: SecretBytes)
    /// A secret that a service issued to this device for signing in. The caller defines the bytes.
    case enrolledSecret(issuer: String, account: String, value: SecretBytes)
    /// The secret for codes of a kind that Watchword stores, but does not compute.
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

    /// Whether the entry is a one-time password, a static secret, an enrolled secret or a code that
    /// is only stored.
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
    /// A time-based one-time password (TOTP, RFC 6238).
    case totp
    /// A counter-based one-time password (HOTP, RFC 4226).
    case hotp
    /// A static secret: a password, a recovery code or any other bytes.
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

/// The issuer and the account of an entry.
public struct EntryNames: Hashable, Sendable {
    /// The issuer; may be empty.
    public let issuer: String
    /// The account; may be empty.
    public let account: String
}

/// A part of an entry that an edit changes.
public enum EntryPart: String, CaseIterable, Hashable, Sendable {
    /// The issuer and the account.
    case name
    /// The key or secret, and the parameters of its codes.
    case secret
    /// The presence check, the consequence of failed checks, and the device to which the entry is
    /// bound.
    case accessControl = "access-control"
    /// The tags, the note, the icon and the favourite mark.
    case details
}
