internal import Attestation
internal import Cryptography
internal import JSONText
internal import Verification
internal import WebAuthnMessages

extension Service {
    /// `POST /v1/subjects/{subject}/credentials` with the type `passkey`.
    func enrolPasskey(_ call: Call, for subject: Subject) async throws(Refusal) -> Answer {
        let (passkeys, passkeySettings) = try configured()
        let policy = try policy(call, passkeySettings)
        let name = call.fields.string("name") ?? ""
        let userName = call.fields.string("user_name") ?? ""
        let displayName = call.fields.string("user_display_name") ?? userName
        let replaces = call.fields.string("replaces").flatMap { CredentialID(text: $0) }
        if call.fields.string("via") == "page" {
            guard settings.pages != nil else { throw Refusal(.notConfigured("pages")) }
            let page = passkeySettings.origins[0] + PageResource.enrolment.rawValue
            let account = PasskeyAccount(userName: userName, displayName: displayName)
            return try await deciding(call, answer: { Self.answer(to: $0, page: page) }) {
                recorder throws(VerifierError) in
                try await passkeys.issueTicket(
                    for: subject, name: name, account: account, policy: policy,
                    replacing: replaces, origin: call.origin, recorder: recorder)
            }
        }
        return try await deciding(
            call,
            answer: { Self.answer(to: $0, userName: userName, displayName: displayName) }
        ) { recorder throws(VerifierError) in
            try await passkeys.beginRegistration(
                for: subject, name: name, policy: policy, replacing: replaces,
                origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/credentials/{credential}/registration`.
    func registerPasskey(_ call: Call) async throws(Refusal) -> Answer {
        let (passkeys, passkeySettings) = try configured()
        let id = try credential(call)
        let response = try registrationResponse(call)
        let name = call.fields.string("name")
        let origin = call.browserOrigin
        let tellsReasons = call.has(.reasons)
        return try await deciding(
            call,
            answer: { outcome in
                guard let outcome else { return Answer(.unknownCredential) }
                return Self.answer(to: outcome, passkeySettings, tellsReasons: tellsReasons)
            }
        ) { recorder throws(VerifierError) in
            try await passkeys.finishRegistration(
                of: id, with: response, name: name, origin: origin, recorder: recorder)
        }
    }

    /// `POST /v1/ceremonies`.
    func beginCeremony(_ call: Call) async throws(Refusal) -> Answer {
        let (passkeys, passkeySettings) = try configured()
        let policy = try policy(call, passkeySettings)
        var subject: Subject?
        if let text = call.fields.string("subject") { subject = try self.subject(text) }
        let isConditional = call.fields.flag("conditional") ?? false
        let id = call.fields.string("rp_id")
        guard id.map(passkeySettings.relyingParty.ids.contains) ?? true else {
            throw Refusal(.invalidField("rp_id"))
        }
        return try await deciding(call, answer: Self.answer(to:)) {
            recorder throws(VerifierError) in
            try await passkeys.beginAuthentication(
                for: subject, at: id, policy: policy, isConditional: isConditional,
                by: call.clientID, origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/assertions`.
    func verifyAssertion(_ call: Call) async throws(Refusal) -> Answer {
        let (passkeys, _) = try configured()
        let ceremony = try ceremony(call)
        let response = try assertionResponse(call)
        let device = token(.knownDevice, call.fields.secret("device"))
        let origin = call.browserOrigin
        let tellsReasons = call.has(.reasons)
        return try await deciding(
            call, answer: { Self.answer(to: $0, response.credentialID, tellsReasons: tellsReasons) }
        ) { recorder throws(VerifierError) in
            try await passkeys.finishAuthentication(
                ceremony, with: response, by: call.clientID, device: device, origin: origin,
                recorder: recorder)
        }
    }

    /// `POST /v1/credentials/{credential}/step-up`.
    func completeStepUp(_ call: Call) async throws(Refusal) -> Answer {
        let (passkeys, _) = try configured()
        let id = try credential(call)
        let verification = call.fields.string("verification")
            .flatMap { VerificationID(text: $0) }
        guard let verification else { throw Refusal(.invalidField("verification")) }
        return try await deciding(
            call,
            answer: { outcome in
                switch outcome {
                case .done: .answered([("result", .text("accepted"))], outcome: "accepted")
                case .refused: .answered([("result", .text("denied"))], outcome: "denied")
                case .unknown: Answer(.unknownCredential)
                }
            }
        ) { recorder throws(VerifierError) in
            try await passkeys.completeStepUp(
                of: id, for: verification, origin: call.origin, recorder: recorder)
        }
    }

    /// `GET /v1/subjects/{subject}/passkeys/signal`.
    func listAcceptedPasskeys(_ call: Call) async throws(Refusal) -> Answer {
        let (passkeys, passkeySettings) = try configured()
        let subject = try subject(call.parameters["subject"])
        let (ids, position) = (passkeySettings.relyingParty.ids, Int(call.query["rp"] ?? 0))
        guard ids.indices.contains(position) else { throw Refusal(.malformedQuery) }
        let signal = try await deciding { () async throws(VerifierError) in
            try await passkeys.signal(for: subject, at: ids[position])
        }
        // Authenticators hide passkeys that are not listed, so nothing may be signalled while one is
        // being registered.
        guard let members = signal.json?.members else { return Answer(.refusedByState) }
        return .answered(members, outcome: "listed")
    }
}

// What the routes for applications and those for browsers share.
extension Service {
    /// The relying party, if the server is configured for passkeys.
    func configured() throws(Refusal) -> (Passkeys, PasskeySettings) {
        guard let passkeys, let settings = settings.passkeys else {
            throw Refusal(.notConfigured("rp-id"))
        }
        return (passkeys, settings)
    }

    private func policy(
        _ call: Call, _ settings: PasskeySettings
    ) throws(Refusal) -> PasskeyPolicy {
        do throws(Problem) { return try settings.floor.policy(call.fields.object("policy")) } catch
        { throw Refusal(error) }
    }

    func ceremony(_ call: Call) throws(Refusal) -> Token {
        guard let ceremony = token(.ceremony, call.fields.secret("ceremony")) else {
            throw Refusal(.invalidField("ceremony"))
        }
        return ceremony
    }

    func registrationResponse(_ call: Call) throws(Refusal) -> RegistrationResponse {
        try response(call) { value in try RegistrationResponse.read(value).response() }
    }

    func assertionResponse(_ call: Call) throws(Refusal) -> AssertionResponse {
        try response(call) { value in try AssertionResponse.read(value).response() }
    }

    private func response<Response>(
        _ call: Call, _ read: (JSONValue) throws -> Response
    ) throws(Refusal) -> Response {
        guard let value = call.fields.object("response") else {
            throw Refusal(.missingField("response"))
        }
        do { return try read(value) } catch let failure as CryptographyFailure {
            throw Refusal(.failed, cause: "cryptography-\(failure.call.rawValue)")
        } catch {
            throw Refusal(.invalidField("response"))
        }
    }

    static func answer(
        to outcome: RegistrationOutcome, _ settings: PasskeySettings, tellsReasons: Bool
    ) -> Answer {
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
            if tellsReasons { members.append(("reason", .text(reason.rawValue))) }
            return .answered(members, outcome: "denied")
        }
    }

    static func answer(to ceremony: PasskeyCeremony) -> Answer {
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
    ) -> Answer {
        var members: [(String, JSONValue)] = [
            ("verification", .text(outcome.verification.text)), ("result", .text("denied")),
        ]
        if let reason { members.append(("reason", .text(reason))) }
        if let relyingParty = outcome.forgottenAt {
            let signal: [(String, JSONValue)] = [
                ("rpId", .text(relyingParty)), ("credentialId", .text(Base64URL.encode(id.span))),
            ]
            members.append(("signal", .object(signal)))
        }
        return .answered(members, outcome: "denied")
    }

    private static func answer(
        to outcome: AssertionOutcome, _ id: [UInt8], tellsReasons: Bool
    ) -> Answer {
        switch outcome.result {
        case .denied(let reason):
            return denial(outcome, id, because: tellsReasons ? reason.rawValue : nil)
        case .signed(let signer, let stepUp):
            let result = stepUp.isEmpty ? "accepted" : "step-up"
            var members: [(String, JSONValue)] = [
                ("verification", .text(outcome.verification.text)), ("result", .text(result)),
                ("credential", .text(signer.credential.text)), ("type", .text("passkey")),
                ("subject", .text(signer.subject.text)),
                ("user_verified", .flag(signer.isUserVerified)),
                ("device_bound", .flag(signer.isDeviceBound)),
                ("backed_up", .flag(signer.isBackedUp)),
                ("sign_count", .text(signer.counter.rawValue)),
            ]
            if !stepUp.isEmpty { members.append(("step_up", json(stepUp))) }
            if let device = signer.device { members.append(("device", .secret(device.text))) }
            return .answered(members, outcome: result)
        }
    }

    static func json(_ reasons: [StepUpReason]) -> JSONValue {
        .list(reasons.map { .text($0.rawValue) })
    }

    private static func answer(
        to outcome: EnrolmentOutcome<PasskeyGrant>, userName: String, displayName: String
    ) -> Answer {
        switch outcome {
        case .granted(let grant):
            .made([
                ("credential", .text(grant.credential.text)), ("state", .text("pending")),
                ("options", grant.options.json(userName: userName, displayName: displayName)),
                ("expires_at", .text(grant.expiresAt.text)),
            ])
        case .refused(let refusal): answer(to: refusal)
        }
    }

    private static func answer(
        to outcome: EnrolmentOutcome<PasskeyTicket>, page: String
    ) -> Answer {
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
        case .refused(let refusal): return answer(to: refusal)
        }
    }
}

extension Call {
    /// The sender with the browser's user agent, which the application passes on.
    fileprivate var browserOrigin: Origin {
        Origin(
            address: origin.address, userAgent: fields.string("user_agent") ?? origin.userAgent,
            client: origin.client)
    }
}
