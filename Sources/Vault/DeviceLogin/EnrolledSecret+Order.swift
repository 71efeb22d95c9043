internal import Courier
public import SecretVault
public import WatchwordCryptography

// Comparing two copies of an enrolment, for a merge.
extension EnrolledSecret {
    /// Which of two stored states is newer.
    ///
    /// An enrolment advances in steps: the device presents a secret with a nonce, and then receives
    /// its successor. The copy that has advanced further is newer. If both have advanced equally
    /// far but differ, each has presented a secret with a nonce of its own.
    public static func order(of first: SecretBytes, _ second: SecretBytes) -> EnrolledOrder {
        if EnrolledKey.isForm(first), EnrolledKey.isForm(second) {
            return EnrolledKey.order(of: first, second)
        }
        let states: (EnrolledSecret, EnrolledSecret)
        do throws(Unreadable) {
            states = (try EnrolledSecret(reading: first), try EnrolledSecret(reading: second))
        } catch {
            return .unrelated
        }
        guard states.0.server == states.1.server, states.0.credential == states.1.credential
        else { return .unrelated }
        if states.0.progress != states.1.progress {
            return states.0.progress < states.1.progress ? .second : .first
        }
        return states.0.isSame(as: states.1) ? .same : .forked
    }

    /// Marks the enrolment as stale: none of its secrets is presented until the device is enrolled
    /// again.
    ///
    /// - Parameter form: a stored state of the enrolment.
    public static func markStale(_ form: SecretBytes, in vault: UnlockedVault)
        throws(DeviceLoginError)
    {
        let state: EnrolledSecret
        do { state = try EnrolledSecret(reading: form) } catch { throw .unreadable }
        let presented = PresentedSecret(
            enrolment: state.enrolmentDigest(), generation: .max,
            digest: [UInt8](repeating: 0, count: 32))
        do { try vault.record(presented) } catch { throw .vault(error) }
    }

    /// How far the rotation has advanced: the generation of the newest secret, and whether it was
    /// presented.
    private var progress: (UInt64, Int) {
        let newest = successor ?? current
        return (successor == nil ? generation : generation + 1, newest.nonce == nil ? 0 : 1)
    }

    private func isSame(as other: EnrolledSecret) -> Bool {
        guard current.isSame(as: other.current) else { return false }
        switch (successor, other.successor) {
        case (nil, nil): return true
        case (let own?, let theirs?): return own.isSame(as: theirs)
        default: return false
        }
    }
}

extension EnrolledSecret.StoredSecret {
    fileprivate func isSame(as other: Self) -> Bool {
        secret == other.secret && nonce == other.nonce
    }
}
