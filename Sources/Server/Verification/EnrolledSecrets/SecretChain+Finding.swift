internal import WatchwordCryptography

extension SecretChain {
    /// Classifies the secret with this digest.
    ///
    /// - Parameter presentedGeneration: the generation that the secret's mark confirms; `nil` for a
    ///   secret without a valid mark.
    func finding(
        _ presented: [UInt8], nonceDigest: [UInt8], handedOutAs presentedGeneration: UInt64?
    ) -> LoginAttempt.Finding {
        let isCurrent = isEqualInConstantTime(presented.span, digest.span)
        if let handedOut {
            let isSuccessor = isEqualInConstantTime(presented.span, handedOut.digest.span)
            let isSameNonce = isEqualInConstantTime(nonceDigest.span, handedOut.nonceDigest.span)
            if isCurrent { return isSameNonce ? .again : .reuse }
            if isSuccessor { return .successor }
        } else if isCurrent {
            return .current
        }
        guard let presentedGeneration else { return .foreign }
        let newest = handedOut == nil ? generation : generation + 1
        return presentedGeneration > newest ? .later : .reuse
    }

    /// The reason why the chain has expired; `nil` if it has not.
    func expiry(at now: UnixTime, policy: Policy) -> Event.Reason? {
        if now.milliseconds(since: enrolledAt) >= policy.absoluteLifetime { return .tooOld }
        if now.milliseconds(since: usedAt) >= policy.idleLifetime { return .idle }
        return nil
    }
}
