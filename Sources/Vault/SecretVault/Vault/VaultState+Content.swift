internal import OneTimePassword
internal import WatchwordCryptography
internal import WatchwordSystem

extension EntryTraits {
    var algorithm: HashAlgorithm? {
        switch self {
        case .totp(let algorithm, _, _), .hotp(let algorithm, _): algorithm
        case .secret, .enrolled, .uncomputed: nil
        }
    }

    var style: CodeStyle? {
        switch self {
        case .totp(_, let style, _), .hotp(_, let style): style
        case .secret, .enrolled, .uncomputed: nil
        }
    }

    var timeStep: TimeStep? {
        switch self {
        case .totp(_, _, let step): step
        case .hotp, .secret, .enrolled, .uncomputed: nil
        }
    }
}

extension VaultState.Record {
    /// Opens the record, and combines it with its manifest entry.
    func content(with key: VaultKey) throws(VaultError) -> EntryContent {
        let payload = try opened(with: key)
        let properties = listed.properties
        let content = EntryContent(
            issuer: properties.issuer, account: properties.account, properties.traits, payload)
        guard let content else { throw .damaged(.content(line.id)) }
        return content
    }

    /// The counter for the next code; `nil` if it has none, or was wiped.
    func counter(with key: VaultKey) throws(VaultError) -> UInt64? {
        guard case .hotp = listed.properties.traits, case .sealed = body,
            case .hotp(let counter, _, _) = try opened(with: key)
        else { return nil }
        return counter
    }

    /// The address at the start of an enrolled entry's content; `nil` if it has none, or was wiped.
    func server(with key: VaultKey) throws(VaultError) -> String? {
        guard case .enrolled = listed.properties.traits, case .sealed = body,
            case .bytes(let value) = try opened(with: key)
        else { return nil }
        return value.withBytes { bytes in
            var fields = FieldReader(.bigEndian)
            do throws(FieldReader.Unreadable) {
                _ = try fields.byte(bytes)
                return try fields.text(bytes, limit: VaultState.Record.longestServer)
            } catch { return nil }
        }
    }

    /// The maximum length of a server's address in bytes.
    private static let longestServer = 512
}

extension EntryContent {
    /// Combines an entry's properties with its secret content; `nil` if they do not belong together
    /// or are not valid.
    init?(issuer: String, account: String, _ traits: EntryTraits, _ payload: RecordPayload) {
        func credential(
            _ key: SecretBytes, _ algorithm: HashAlgorithm, _ style: CodeStyle,
            _ movingFactor: MovingFactor, _ parameters: [Credential.Parameter]
        ) -> EntryContent? {
            do {
                return .oneTimePassword(
                    try Credential(
                        issuer: issuer, account: account, key: key, algorithm: algorithm,
                        style: style, movingFactor: movingFactor, otherParameters: parameters))
            } catch {
                return nil
            }
        }
        let content: EntryContent?
        switch (traits, payload) {
        case (.totp(let algorithm, let style, let step), .totp(let key, let parameters)):
            content = credential(key, algorithm, style, .time(step), parameters)
        case (.hotp(let algorithm, let style), .hotp(let counter, let key, let parameters)):
            content = credential(key, algorithm, style, .counter(counter), parameters)
        case (.secret, .bytes(let value)):
            content = .plainSecret(issuer: issuer, account: account, value: value)
        case (.enrolled, .bytes(let value)):
            content = .enrolledSecret(issuer: issuer, account: account, value: value)
        case (.uncomputed(let kind), .uncomputed(let secret, let pin)):
            content = .uncomputed(
                UncomputedCode(
                    kind: kind, issuer: issuer, account: account, secret: secret, pin: pin))
        default:
            content = nil
        }
        guard let content else { return nil }
        self = content
    }
}
