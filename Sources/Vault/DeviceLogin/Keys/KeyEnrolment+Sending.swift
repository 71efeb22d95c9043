internal import Courier
internal import Devices
internal import SecretVault
internal import WatchwordCryptography

extension KeyEnrolment {
    /// The registration of a key, as it was signed.
    ///
    /// - Parameter idempotencyKey: by default, the same for each attempt, so that the server
    ///   repeats a recorded response.
    func request(
        _ key: EnrolledKey, idempotencyKey: String? = nil
    ) throws(DeviceLoginError) -> HelperRequest {
        guard let saved = key.registration else { throw .unreadable }
        let standard = EnrolledLogin.key(
            of: "watchword device key", saved.ticket, key.point)
        return HelperRequest(
            server: key.server, idempotencyKey: idempotencyKey ?? standard,
            operation: .keyRegistration(
                saved, point: key.point, isInTPM: key.holding.isInTPM))
    }

    /// Lets the TPM reveal the secret with which the server completes the registration.
    ///
    /// A repeated run gets the same response to its registration, and sends the same secret again.
    func activate(
        _ key: EnrolledKey, as credential: Token, _ activation: KeyActivation,
        over sender: inout some RequestSender
    ) throws(DeviceLoginError) {
        guard let saved = key.registration, saved.attestation != nil else {
            throw .unexpectedResponse
        }
        guard let tpm else { throw .token(.noDevice) }
        let secret = try TPMSigner.secret(protectedBy: activation, in: tpm)
        let request = HelperRequest(
            server: key.server,
            idempotencyKey: EnrolledLogin.key(
                of: "watchword key activation", saved.ticket, key.point),
            operation: .keyActivation(credential: credential, secret: secret))
        switch try EnrolledLogin.send(request, over: &sender) {
        case .keyActivated: return
        case .denied: throw .denied
        case .problem(let problem): throw .problem(problem, at: key.server.address)
        default: throw .unexpectedResponse
        }
    }

    /// The key of an earlier run, if the server has registered it.
    ///
    /// The server must not send a recorded response: the key may have been revoked since, or its
    /// TPM may have completed the attestation.
    func registeredEarlier(
        _ key: EnrolledKey, over sender: inout some RequestSender, now: Int64
    ) throws(DeviceLoginError) -> EnrolledKey? {
        let nonce = RotationNonce.random()
        let request = try request(key, idempotencyKey: "registration-\(nonce.text)")
        switch try EnrolledLogin.send(request, over: &sender) {
        case .registered(let credential, let custody):
            return key.registered(as: credential, custody, now: now)
        // Without the secret that the TPM reveals, the key never becomes active.
        case .keyToActivate: return nil
        case .problem(let problem):
            guard problem.isFinal else { throw .problem(problem, at: key.server.address) }
            return nil
        default: throw .unexpectedResponse
        }
    }
}

extension HelperResponse.Problem {
    /// Whether the server will never accept an identical request.
    var isFinal: Bool {
        [400, 403, 409, 410, 422].contains(status)
            && type.text.hasPrefix("urn:watchword:problem:")
    }
}

extension EnrolledKey {
    /// The state of the key after a registration with this custody.
    func registered(as credential: Token, _ custody: Token, now: Int64) -> EnrolledKey {
        registered(
            as: credential, isAttested: custody.text == KeyState.Custody.attestedTPM.rawValue,
            now: now)
    }
}

/// An earlier enrolment under the name of a new key.
enum Incumbent: Sendable {
    case key(EnrolledKey)
    case secret(EnrolledSecret)

    /// Returns `nil` for any other content, which is replaced.
    init?(_ content: EntryContent) {
        guard case .enrolledSecret(_, _, let form) = content else { return nil }
        if let key = EnrolledKey(reading: form) {
            self = .key(key)
        } else if let secret = EnrolledSecret(reading: form) {
            self = .secret(secret)
        } else {
            return nil
        }
    }

    var isKey: Bool {
        if case .key = self { true } else { false }
    }

    /// Whether the enrolment can sign in.
    var isUsable: Bool {
        switch self {
        case .key(let key): key.credential != nil
        case .secret: true
        }
    }

    /// The stored form of the key that replaces this enrolment.
    var next: SecretBytes? {
        switch self {
        case .key(let key): key.next
        case .secret(let secret): secret.next
        }
    }

    /// The stored form until `next` is registered; `nil` if no other key is waiting.
    func form(waitingFor next: SecretBytes?) -> SecretBytes {
        switch self {
        case .key(var key):
            key.next = next
            return key.form()
        case .secret(var secret):
            secret.next = next
            return secret.form()
        }
    }
}

// The keys that earlier runs have stored.
extension KeyEnrolment {
    /// A key that the server has not registered yet, as far as this device knows.
    struct Pending {
        /// The entry that holds the key.
        let id: RecordID
        let key: EnrolledKey
        /// The entry's purpose until then; `nil` if there is none.
        let current: Incumbent?
    }

    /// The key of an earlier run with this ticket.
    static func made(
        for enrolment: Enrolment, in earlier: [RecordID: EntryContent]
    ) -> EnrolledKey? {
        stored(for: enrolment, in: earlier)?.key
    }

    /// The stored key of an earlier run with this ticket.
    static func stored(
        for enrolment: Enrolment, in earlier: [RecordID: EntryContent]
    ) -> Pending? {
        let digest = enrolment.ticketDigest
        return pending(in: earlier) {
            $0.server.address == enrolment.server.address && $0.ticketDigest == digest
        }
    }

    /// A key that an earlier run with a different ticket made for this server, but for which it
    /// received no response.
    static func unanswered(
        for enrolment: Enrolment, in earlier: [RecordID: EntryContent]
    ) -> Pending? {
        pending(in: earlier) {
            $0.server.address == enrolment.server.address && $0.credential == nil
        }
    }

    private static func pending(
        in earlier: [RecordID: EntryContent], where isWanted: (EnrolledKey) -> Bool
    ) -> Pending? {
        for (id, content) in earlier {
            guard let incumbent = Incumbent(content) else { continue }
            if case .key(let key) = incumbent, isWanted(key) {
                return Pending(id: id, key: key, current: nil)
            }
            if let form = incumbent.next, let next = EnrolledKey(reading: form), isWanted(next) {
                return Pending(id: id, key: next, current: incumbent)
            }
        }
        return nil
    }

    /// An earlier enrolment that signs in.
    static func usable(in earlier: [RecordID: EntryContent]) -> (RecordID, Incumbent)? {
        for (id, content) in earlier {
            if let incumbent = Incumbent(content), incumbent.isUsable { return (id, incumbent) }
        }
        return nil
    }
}
