internal import Cryptography
internal import OneTimePassword

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
        let (issuer, account) = (listed.properties.issuer, listed.properties.account)
        switch (listed.properties.traits, try opened(with: key)) {
        case (.totp(let algorithm, let style, let step), .totp(let key, let parameters)):
            return .oneTimePassword(
                try credential(key, algorithm, style, .time(step), parameters))
        case (.hotp(let algorithm, let style), .hotp(let counter, let key, let parameters)):
            return .oneTimePassword(
                try credential(key, algorithm, style, .counter(counter), parameters))
        case (.secret, .bytes(let value)):
            return .plainSecret(issuer: issuer, account: account, value: value)
        case (.enrolled, .bytes(let value)):
            return .enrolledSecret(issuer: issuer, account: account, value: value)
        case (.uncomputed(let kind), .uncomputed(let secret, let pin)):
            return .uncomputed(
                UncomputedCode(
                    kind: kind, issuer: issuer, account: account, secret: secret, pin: pin))
        default:
            throw .damaged(.content(line.id))
        }
    }

    /// The counter for the next code; `nil` if it has none, or was wiped.
    func counter(with key: VaultKey) throws(VaultError) -> UInt64? {
        guard case .hotp = listed.properties.traits, case .sealed = body,
            case .hotp(let counter, _, _) = try opened(with: key)
        else { return nil }
        return counter
    }

    private func credential(
        _ key: SecretBytes, _ algorithm: HashAlgorithm, _ style: CodeStyle,
        _ movingFactor: MovingFactor, _ parameters: [Credential.Parameter]
    ) throws(VaultError) -> Credential {
        do {
            return try Credential(
                issuer: listed.properties.issuer, account: listed.properties.account, key: key,
                algorithm: algorithm, style: style, movingFactor: movingFactor,
                otherParameters: parameters)
        } catch {
            throw .damaged(.content(line.id))
        }
    }
}
