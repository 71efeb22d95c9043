internal import Courier
internal import Cryptography

/// A secret as it is presented once, or again.
struct Presentation: Sendable {
    /// Which of the two secrets it is.
    enum Which: Hashable, Sendable {
        case current, successor
    }

    let which: Which
    let secret: SecretBytes
    let nonce: RotationNonce
    let generation: UInt64
    /// Whether it may have been sent before, so that its answer may be an old one.
    let isRepeated: Bool
}

/// What an answer means for the device.
enum Consequence {
    /// Signed in; this is what must be kept from now on.
    case signedIn(EnrolledSecret, HelperResponse.Acceptance)
    /// The server does not know the successor: the secret before it is asked about it again.
    case askAgain(Presentation)
    /// Not signed in; nothing changes.
    case denied
    /// The secret must go, for this reason.
    case wipe(HelperResponse.WipeOrder)
    /// An answer that answers something else; nothing changes.
    case senseless
}

// The device's side of the rotation, as decisions without a disk, a network or a clock.
extension EnrolledSecret {
    /// Which secret is presented next, and what must be on the disk before it is.
    ///
    /// The newest secret is presented. A nonce that was chosen before is taken again: an answer to it may
    /// be on its way, or was lost.
    ///
    /// - Returns: the presentation, and the state to keep; no state when it is kept already.
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
        let written = Holding(secret: holding.secret, nonce: fresh)
        let state =
            switch which {
            case .current: replacing(current: written, successor: nil, now: now)
            case .successor: replacing(current: current, successor: written, now: now)
            }
        return (presentation, state)
    }

    /// What `answer` to `presentation` means.
    func consequence(
        of answer: HelperResponse, to presentation: Presentation, now: Int64
    ) -> Consequence {
        switch answer {
        case .accepted(let acceptance):
            guard let state = accepting(acceptance.next, to: presentation, now: now) else {
                return .senseless
            }
            return .signedIn(state, acceptance)
        case .denied(wipe: .unlisted): return .denied
        case .denied(wipe: let reason?): return .wipe(reason)
        case .denied(wipe: nil):
            // A server that lost its last writing (an older copy was put in its place) never handed the
            // successor out. The same nonce brings the same one again, and can't look like a thief's.
            guard presentation.which == .successor, let nonce = current.nonce else {
                return .denied
            }
            return .askAgain(
                Presentation(
                    which: .current, secret: current.secret, nonce: nonce, generation: generation,
                    isRepeated: true))
        case .enrolled, .problem: return .senseless
        }
    }

    /// The state after `presentation` was accepted; nothing when the answer does not fit it.
    private func accepting(
        _ next: HelperResponse.HandedSecret, to presentation: Presentation, now: Int64
    ) -> EnrolledSecret? {
        guard next.generation == presentation.generation + 1 else { return nil }
        let holding = Holding(secret: presentation.secret, nonce: presentation.nonce)
        // A server that hands out what it was given rotates nothing.
        guard !(next.secret == presentation.secret) else { return nil }
        // A successor that is handed out again may be on its way already, with the nonce that it has.
        let isKnown = successor.map { $0.secret == next.secret } ?? false
        return EnrolledSecret(
            server: server, authorities: authorities, credential: credential, changed: now,
            generation: presentation.generation, current: holding,
            successor: Holding(secret: next.secret, nonce: isKnown ? successor?.nonce : nil))
    }

    private func replacing(current: Holding, successor: Holding?, now: Int64) -> EnrolledSecret {
        EnrolledSecret(
            server: server, authorities: authorities, credential: credential, changed: now,
            generation: generation, current: current, successor: successor)
    }
}
