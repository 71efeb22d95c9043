internal import Cryptography

extension Credential: Equatable {
    /// Compares all properties; the keys are compared in constant time.
    public static func == (left: Credential, right: Credential) -> Bool {
        let sameKey = left.key == right.key
        return sameKey && left.issuer == right.issuer && left.account == right.account
            && left.algorithm == right.algorithm && left.style == right.style
            && left.movingFactor == right.movingFactor
            && left.otherParameters == right.otherParameters
    }
}
