internal import Cryptography

/// A property that the standards do not allow, although services use it.
public enum CredentialWarning: Hashable, Sendable {
    /// The key is shorter than the 128 bits of RFC 4226, section 4 (R6).
    case shortKey(bits: Int)
    /// Codes do not have six to eight digits (RFC 4226, section 5.3).
    case digits(Int)
    /// A code is valid for more than two minutes (NIST SP 800-63B-4, section 3.1.4.1).
    case longPeriod(seconds: Int64)
}

extension Credential {
    /// The properties that the standards do not allow; the credential can still be used.
    public var warnings: [CredentialWarning] {
        var warnings: [CredentialWarning] = []
        if key.count < 16 { warnings.append(.shortKey(bits: key.count * 8)) }
        if case .decimal(let length) = style, !length.isStandard {
            warnings.append(.digits(length.digits))
        }
        if case .time(let step) = movingFactor, step.period > 120 {
            warnings.append(.longPeriod(seconds: step.period))
        }
        return warnings
    }
}
