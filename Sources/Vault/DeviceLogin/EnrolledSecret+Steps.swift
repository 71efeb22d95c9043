internal import Courier
internal import WatchwordCryptography

/// One presentation of a secret to the server.
struct Presentation: Sendable {
    /// Which of the two secrets is presented.
    enum Which: Hashable, Sendable {
        case current, successor
    }

    let which: Which
    let secret: SecretBytes
    let nonce: RotationNonce
    let generation: UInt64
    /// Whether it may have been sent before, so that the response may be a repeated one.
    let isRepeated: Bool
}

/// What a response means for the device.
enum Consequence {
    /// Signed in; the device must keep this state from now on.
    case signedIn(EnrolledSecret, HelperResponse.Acceptance)
    /// The successor is unknown to the server: present the previous secret again.
    case askAgain(Presentation)
    /// Rejected; nothing changes.
    case denied
    /// The secret must be wiped, for this reason.
    case wipe(HelperResponse.WipeOrder)
    /// The response does not fit the request; nothing changes.
    case unexpectedResponse
}

// The device's side of the rotation, as pure logic without disk, network or clock.
extension EnrolledSecret {
    /// The secret to present next, and the state that must be on disk first.
    ///
    /// The newest secret is presented. A nonce that was already chosen is reused, because its
    /// response may be in transit or lost.
    ///
    /// - Returns: the presentation, and the state to keep; `nil` if the state is already kept.
    func presentation(
        with fresh: RotationNonce, now: Int64
    ) -> (Presentation, keeping: EnrolledSecret?) {
        let holding = successor ?? current
        let which: Presentation.Which = successor == nil ? .current : .successor
        let presentation = Presentation(
            which: which, secret: holding.secret, nonce: holding.nonce ?? fresh,
            generation: successor == nil ? generation : generation + 1,
            isRepeated: holding.nonce != nil)
        guard holding.nonce == nil else { return (presentation, nil) }
        let written = StoredSecret(secret: holding.secret, nonce: fresh)
        let state =
            switch which {
            case .current: replacing(current: written, successor: nil, now: now)
            case .successor: replacing(current: current, successor: written, now: now)
            }
        return (presentation, state)
    }

    /// What the response `answer` to `presentation` means.
    func consequence(
        of answer: HelperResponse, to presentation: Presentation, now: Int64
    ) -> Consequence {
        switch answer {
        case .accepted(let acceptance):
            guard let state = accepting(acceptance.next, to: presentation, now: now) else {
                return .unexpectedResponse
            }
            return .signedIn(state, acceptance)
        case .denied(wipe: .unlisted): return .denied
        case .denied(wipe: let reason?): return .wipe(reason)
        case .denied(wipe: nil):
            // A server that was restored from an older copy has never issued the successor. The
            // same nonce yields the same successor again, and cannot be mistaken for theft.
            guard presentation.which == .successor, let nonce = current.nonce else {
                return .denied
            }
            return .askAgain(
                Presentation(
                    which: .current, secret: current.secret, nonce: nonce, generation: generation,
                    isRepeated: true))
        case .enrolled, .problem, .registered, .keyToActivate, .keyActivated, .challenge, .signed:
            return .unexpectedResponse
        }
    }

    /// The state after `presentation` was accepted; `nil` if the response does not fit it.
    private func accepting(
        _ next: HelperResponse.NextSecret, to presentation: Presentation, now: Int64
    ) -> EnrolledSecret? {
        guard next.generation == presentation.generation + 1 else { return nil }
        let holding = StoredSecret(secret: presentation.secret, nonce: presentation.nonce)
        // A server that returns the secret that it was given does not rotate secrets.
        guard !(next.secret == presentation.secret) else { return nil }
        // A successor that is issued again may already have been presented, so it keeps its nonce.
        let isKnown = successor.map { $0.secret == next.secret } ?? false
        return EnrolledSecret(
            server: server, authorities: authorities, credential: credential, changed: now,
            generation: presentation.generation, current: holding,
            successor: StoredSecret(secret: next.secret, nonce: isKnown ? successor?.nonce : nil),
            next: self.next)
    }

    private func replacing(current: StoredSecret, successor: StoredSecret?, now: Int64)
        -> EnrolledSecret
    {
        EnrolledSecret(
            server: server, authorities: authorities, credential: credential, changed: now,
            generation: generation, current: current, successor: successor, next: next)
    }
}
