internal import PasskeyVerification
internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

// The responses of the routes for passkeys.
extension Service {
    /// The response to a registration.
    ///
    /// - Parameter id: the passkey's id, as the browser stated it.
    static func response(
        to outcome: RegistrationOutcome, _ id: [UInt8], _ settings: PasskeySettings,
        tellsReasons: Bool
    ) -> RenderedResponse {
        switch outcome {
        case .accepted(let passkey):
            var members: [(String, JSONValue)] = [
                ("result", .text("accepted")), ("device_bound", .flag(passkey.isDeviceBound)),
                ("backed_up", .flag(passkey.isBackedUp)),
                ("user_verified", .flag(passkey.isUserVerified)),
                ("attestation", .text(passkey.attestation)),
            ]
            if let model = passkey.model {
                members.append(("authenticator", .text(settings.name(of: model))))
            }
            members.append(("only_credential", .flag(passkey.isOnlyCredential)))
            return .answered(members, outcome: "accepted")
        case .denied(let reason):
            var members: [(String, JSONValue)] = [("result", .text("denied"))]
            if tellsReasons { members.append(("reason", .text(reason.ceremonyName))) }
            members.append(("retry", .flag(!reason.isAboutAuthenticator)))
            // An already registered passkey must not be removed. After the other reasons, the next
            // attempt replaces the passkey.
            if reason.isAboutAuthenticator, reason != .credentialKnown {
                members.append(signal(settings.relyingParty.ids[0], id))
            }
            return .answered(members, outcome: "denied")
        }
    }

    /// The values with which `signalUnknownCredential` removes a passkey from its authenticator.
    private static func signal(_ relyingParty: String, _ id: [UInt8]) -> (String, JSONValue) {
        (
            "signal",
            .object([
                ("rpId", .text(relyingParty)), ("credentialId", .text(Base64URL.encode(id.span))),
            ])
        )
    }

    static func response(to ceremony: PasskeyCeremony) -> RenderedResponse {
        .made([
            ("ceremony", .secret(ceremony.token.text)), ("options", ceremony.options.json),
            ("expires_at", .text(ceremony.expiresAt.text)),
        ])
    }

    /// The response to a denied signature.
    ///
    /// - Parameter id: the passkey's id, as the browser stated it.
    static func denial(
        _ outcome: AssertionOutcome, _ id: [UInt8], because reason: String?
    ) -> RenderedResponse {
        var members: [(String, JSONValue)] = [
            ("verification", .text(outcome.verification.text)), ("result", .text("denied")),
        ]
        if let reason { members.append(("reason", .text(reason))) }
        if let relyingParty = outcome.forgottenAt { members.append(signal(relyingParty, id)) }
        return .answered(members, outcome: "denied")
    }

    static func response(
        to outcome: AssertionOutcome, _ id: [UInt8], tellsReasons: Bool
    ) -> RenderedResponse {
        switch outcome.result {
        case .denied(let reason):
            return denial(outcome, id, because: tellsReasons ? reason.ceremonyName : nil)
        case .signed(let signer, let stepUp):
            let result = stepUp.isEmpty ? "accepted" : "step-up"
            var members: [(String, JSONValue)] = [
                ("verification", .text(outcome.verification.text)), ("result", .text(result)),
                ("credential", .text(signer.credential.text)), ("type", .text("passkey")),
                ("subject", .text(signer.subject.text)),
                ("user_verified", .flag(signer.isUserVerified)),
                ("device_bound", .flag(signer.isDeviceBound)),
                ("backed_up", .flag(signer.isBackedUp)),
                ("sign_count", .text(signer.counter.rawValue)), ("step_up", json(stepUp)),
            ]
            if let device = signer.device { members.append(("device", .secret(device.text))) }
            return .answered(members, outcome: result)
        }
    }

    static func json(_ reasons: [StepUpReason]) -> JSONValue {
        .list(reasons.map { .text($0.rawValue) })
    }

    static func response(
        to outcome: EnrolmentOutcome<PasskeyGrant>, userName: String, displayName: String
    ) -> RenderedResponse {
        switch outcome {
        case .granted(let grant):
            .made([
                ("credential", .text(grant.credential.text)), ("state", .text("pending")),
                ("options", grant.options.json(userName: userName, displayName: displayName)),
                ("expires_at", .text(grant.expiresAt.text)),
            ])
        case .refused(let refusal): response(to: refusal)
        }
    }

    static func response(
        to outcome: EnrolmentOutcome<PasskeyTicket>, page: String
    ) -> RenderedResponse {
        switch outcome {
        case .granted(let grant):
            let ticket = grant.ticket.text
            let link = SecretBytes(capacity: page.utf8.count + 1 + ticket.count) { output in
                for byte in page.utf8 { output.append(byte) }
                output.append(UInt8(ascii: "#"))
                ticket.withBytes { output.append(copying: $0) }
            }
            return .made([
                ("credential", .text(grant.credential.text)), ("state", .text("pending")),
                ("ticket", .secret(ticket)), ("link", .secret(link)),
                ("expires_at", .text(grant.expiresAt.text)),
            ])
        case .refused(let refusal): return response(to: refusal)
        }
    }
}
