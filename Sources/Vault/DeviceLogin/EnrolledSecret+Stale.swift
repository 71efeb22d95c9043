internal import Courier
public import SecretVault
internal import WatchwordCryptography

// A secret that was restored from a backup may be stale. If it were presented, the server would
// assume theft and have the newer one wiped, too.
extension EnrolledSecret {
    /// Whether a newer secret of this enrolment, or this one with another nonce, was already
    /// presented from a vault in this folder.
    ///
    /// - Throws: ``DeviceLoginError/vault(_:)``, ``DeviceLoginError/cryptography(_:)``.
    public func isStale(in vault: UnlockedVault) throws(DeviceLoginError) -> Bool {
        let enrolment = enrolmentDigest()
        let last: PresentedSecret?
        do { last = try vault.lastPresented(of: enrolment) } catch { throw .vault(error) }
        guard let last else { return false }
        return isStale(after: last)
    }

    /// Whether this state is older than the one in which `last` was presented.
    ///
    /// A secret is presented again only with the same nonce, to request a lost response.
    func isStale(after last: PresentedSecret) -> Bool {
        let next = successor ?? current
        let generation = successor == nil ? generation : generation + 1
        guard generation == last.generation else { return generation < last.generation }
        guard let nonce = next.nonce else { return true }
        return EnrolledSecret.digest(next.secret, nonce) != last.digest
    }

    /// What to record before `presentation` is sent.
    func record(of presentation: Presentation) -> PresentedSecret {
        PresentedSecret(
            enrolment: enrolmentDigest(), generation: presentation.generation,
            digest: EnrolledSecret.digest(presentation.secret, presentation.nonce))
    }

    /// Identifies the enrolment in the record of presented secrets.
    func enrolmentDigest() -> [UInt8] {
        // Neither text contains a line feed.
        let text = "watchword enrolment\n\(server.text)\n\(credential.text)"
        return Array(
            sha256(Array(text.utf8).span).prefix(PresentedSecret.enrolmentCount))
    }

    private static func digest(_ secret: SecretBytes, _ nonce: RotationNonce) -> [UInt8] {
        EnrolledLogin.digest(of: "watchword presented", secret, nonce.bytes)
    }
}
