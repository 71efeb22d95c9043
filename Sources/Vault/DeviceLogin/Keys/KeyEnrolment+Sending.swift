internal import Courier
internal import Devices
internal import WatchwordCryptography

// What is sent to the server.
extension KeyEnrolment {
    /// The registration of a key, as it was signed.
    ///
    /// - Parameter idempotencyKey: by default, the same for each attempt, so that the server sends a
    ///   recorded response again.
    func request(
        _ key: EnrolledKey, idempotencyKey: String? = nil
    ) throws(DeviceLoginError) -> HelperRequest {
        guard let saved = key.registration else { throw .unreadable }
        let standard = EnrolledLogin.key(
            of: "watchword device key", saved.ticket, key.point)
        return HelperRequest(
            server: key.server, authorities: key.authorities,
            idempotencyKey: idempotencyKey ?? standard,
            operation: .keyRegistration(
                HelperRequest.KeyRegistration(
                    ticket: saved.ticket, point: key.point, signature: saved.signature,
                    presence: saved.presence, isInTPM: key.holding.isInTPM,
                    deviceName: saved.deviceName, attestation: saved.attestation)))
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
        guard let tpm = place.tpm else { throw .token(.refused(.noDevice)) }
        let secret = try TPMSigner.secret(protectedBy: activation, in: tpm)
        let request = HelperRequest(
            server: key.server, authorities: key.authorities,
            idempotencyKey: EnrolledLogin.key(
                of: "watchword key activation", saved.ticket, key.point),
            operation: .keyActivation(credential: credential, secret: secret))
        switch try EnrolledLogin.send(request, over: &sender) {
        case .keyActivated: return
        case .denied: throw .denied
        case .problem(let problem): throw .problem(problem)
        default: throw .unexpectedResponse
        }
    }

    /// The key of an earlier run, if the server has registered it.
    ///
    /// The server must not send a recorded response: the key may have been revoked since, or
    /// its TPM may have proved itself.
    func registeredEarlier(
        _ key: EnrolledKey, over sender: inout some RequestSender, now: Int64
    ) throws(DeviceLoginError) -> EnrolledKey? {
        let nonce = EnrolledLogin.freshNonce()
        let request = try request(key, idempotencyKey: "registration-\(nonce.text)")
        switch try EnrolledLogin.send(request, over: &sender) {
        case .registered(let credential, let custody):
            return key.registered(as: credential, custody, now: now)
        // Without the TPM's secret, it never becomes active.
        case .keyToActivate: return nil
        case .problem(let problem):
            guard problem.isFinal else { throw .problem(problem) }
            return nil
        default: throw .unexpectedResponse
        }
    }
}

extension HelperResponse.Problem {
    /// Whether this server will never accept the same request.
    var isFinal: Bool {
        [400, 403, 409, 410, 422].contains(status)
            && type.text.hasPrefix("urn:watchword:problem:")
    }
}

extension EnrolledKey {
    /// The state after a registration with this custody.
    func registered(as credential: Token, _ custody: Token, now: Int64) -> EnrolledKey {
        registered(
            as: credential, isAttested: custody.text == KeyState.Custody.attestedTPM.rawValue,
            now: now)
    }
}
