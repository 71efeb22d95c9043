package import OneTimePassword
internal import SecretVault
package import WatchwordCryptography

/// Changes to an entry's codes and secret; `nil` leaves a value unchanged.
package struct CodeChange: Sendable {
    package let algorithm: HashAlgorithm?
    package let length: CodeLength?
    package let period: Int64?
    package let counter: UInt64?
    package var secret: SecretBytes?

    package init(
        algorithm: HashAlgorithm? = nil, length: CodeLength? = nil, period: Int64? = nil,
        counter: UInt64? = nil, secret: SecretBytes? = nil
    ) {
        self.algorithm = algorithm
        self.length = length
        self.period = period
        self.counter = counter
        self.secret = secret
    }

    var isEmpty: Bool {
        algorithm == nil && length == nil && period == nil && counter == nil && secret == nil
    }

    /// Returns `content` with the changes applied.
    func applied(to content: EntryContent) throws(OneTimePasswordError) -> EntryContent {
        switch content {
        case .oneTimePassword(let old): return .oneTimePassword(try applied(to: old))
        case .plainSecret(let issuer, let account, let value):
            return .plainSecret(issuer: issuer, account: account, value: secret ?? value)
        case .enrolledSecret, .uncomputed: return content
        }
    }

    private func applied(to old: Credential) throws(OneTimePasswordError) -> Credential {
        let factor: MovingFactor
        switch old.movingFactor {
        case .time(let step):
            guard let changed = TimeStep(period: period ?? step.period, start: step.start) else {
                throw .outOfRange(.period)
            }
            factor = .time(changed)
        // A new key starts at counter 0.
        case .counter(let reached): factor = .counter(counter ?? (secret == nil ? reached : 0))
        }
        return try Credential(
            issuer: old.issuer, account: old.account, key: secret ?? old.key,
            algorithm: algorithm ?? old.algorithm,
            style: length.map(CodeStyle.decimal) ?? old.style, movingFactor: factor,
            otherParameters: old.otherParameters)
    }

    /// Returns warnings about deviations from the standards and about codes that will repeat.
    func warnings(of old: EntryContent, _ new: EntryContent) -> RevisionWarnings {
        guard case .oneTimePassword(let old) = old, case .oneTimePassword(let new) = new else {
            return RevisionWarnings()
        }
        var movesBack = false
        if secret == nil, case .counter(let reached) = old.movingFactor,
            case .counter(let next) = new.movingFactor
        {
            movesBack = next < reached
        }
        return RevisionWarnings(movesBack: movesBack, credential: new.warnings)
    }
}
