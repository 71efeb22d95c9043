public import Courier
public import SecretVault
internal import WatchwordCryptography

/// The state of an enrolment on the device: the secret in use, and its successor.
///
/// Both are kept, each with its nonce, until the successor has been accepted once, so that every
/// lost response can be requested again.
public struct EnrolledSecret: Sendable {
    /// A secret and, once chosen, the nonce with which it is presented.
    public struct StoredSecret: Sendable {
        let secret: SecretBytes
        var nonce: RotationNonce?
    }

    /// The server to sign in to.
    public let server: TrustedServer
    /// The credential's public name.
    public let credential: Token
    /// The time of the last change, in Unix seconds.
    public let changed: Int64
    /// The number of secrets that preceded the current one.
    public let generation: UInt64
    let current: StoredSecret
    let successor: StoredSecret?
    /// The stored form of the device key that replaces this secret as soon as the server has
    /// registered it.
    var next: SecretBytes?

    /// Whether a secret has been presented and no response has arrived.
    public var isUnanswered: Bool {
        if let successor { successor.nonce != nil } else { current.nonce != nil }
    }
}

extension EnrolledSecret {
    /// The state after an enrolment.
    init(
        server: TrustedServer, credential: Token, handed: HelperResponse.NextSecret, now: Int64
    ) {
        self.init(
            server: server, credential: credential, changed: now, generation: handed.generation,
            current: StoredSecret(secret: handed.secret, nonce: nil), successor: nil)
    }
}

/// One presentation of a secret to the server.
struct Presentation: Sendable {
    /// Whether the secret or its successor is presented.
    enum Which: Hashable, Sendable {
        case current, successor
    }

    let which: Which
    let secret: SecretBytes
    let nonce: RotationNonce
    let generation: UInt64
    /// Whether the presentation may have been sent before, so that its response may be a repeated
    /// one.
    let isRepeated: Bool
}

/// The effect of a response on the device.
enum Consequence {
    /// Signed in; the device must keep this state from now on.
    case signedIn(EnrolledSecret, HelperResponse.Acceptance)
    /// The successor is unknown to the server: present the previous secret again.
    case askAgain(Presentation)
    /// The server rejected the secret; nothing changes.
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

    /// The effect of `response` to `presentation`.
    func consequence(
        of response: HelperResponse, to presentation: Presentation, now: Int64
    ) -> Consequence {
        switch response {
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
        case .enrolled, .problem, .registered, .keyToActivate, .keyActivated, .challenge, .signed,
            .content:
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
            server: server, credential: credential, changed: now,
            generation: presentation.generation, current: holding,
            successor: StoredSecret(secret: next.secret, nonce: isKnown ? successor?.nonce : nil),
            next: self.next)
    }

    private func replacing(current: StoredSecret, successor: StoredSecret?, now: Int64)
        -> EnrolledSecret
    {
        EnrolledSecret(
            server: server, credential: credential, changed: now, generation: generation,
            current: current, successor: successor, next: next)
    }
}

// A secret that was restored from a backup may be stale. If it were presented, the server would
// assume theft and have the newer one wiped, too.
extension EnrolledSecret {
    /// Whether a newer secret of this enrolment, or this secret with a different nonce, was already
    /// presented from a vault in this folder.
    ///
    /// - Throws: ``DeviceLoginError/vault(_:)``, ``DeviceLoginError/cryptography(_:)``.
    public func isStale(in vault: UnlockedVault) throws(DeviceLoginError) -> Bool {
        let last = try DeviceLoginError.vault(in: vault.lastPresented(of: enrolmentDigest()))
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

    /// The record that is stored before `presentation` is sent.
    func record(of presentation: Presentation) -> PresentedSecret {
        PresentedSecret(
            enrolment: enrolmentDigest(), generation: presentation.generation,
            digest: EnrolledSecret.digest(presentation.secret, presentation.nonce))
    }

    /// Identifies the enrolment in the record of presented secrets.
    func enrolmentDigest() -> [UInt8] {
        // Neither text contains a line feed.
        let text = "watchword enrolment\n\(server.address.text)\n\(credential.text)"
        return Array(
            sha256(Array(text.utf8).span).prefix(PresentedSecret.enrolmentCount))
    }

    private static func digest(_ secret: SecretBytes, _ nonce: RotationNonce) -> [UInt8] {
        EnrolledLogin.digest(of: "watchword presented", secret, nonce.bytes)
    }
}
