internal import PasskeyVerification
internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

// The routes of the server's own pages need no API key and return no reasons. After a registration,
// they return only whether another attempt can succeed.
extension Service {
    /// `POST /v1/browser/ceremonies`.
    fileprivate func beginBrowserCeremony(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let (passkeys, passkeySettings) = try configured(call)
        guard let ticket = token(.enrolmentTicket, call.fields.secret("ticket")) else {
            let policy = try passkeySettings.floor.policy(nil)
            return try await deciding(call, response: Self.response(to:)) {
                recorder throws(VerifierError) in
                try await passkeys.beginAuthentication(
                    CeremonyRequest(
                        for: nil, at: call.page.map(passkeySettings.relyingParty.id(for:)),
                        policy: policy), origin: call.origin, recorder: recorder)
            }
        }
        return try await deciding(call, response: Self.response(to:)) {
            recorder throws(VerifierError) in
            try await passkeys.beginRegistration(
                with: ticket, origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/browser/registrations`.
    fileprivate func registerInBrowser(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let (passkeys, passkeySettings) = try configured(call)
        let ticket = try token(.enrolmentTicket, in: "ticket", of: call)
        let response = try registrationResponse(call)
        let name = call.fields.string("name")
        return try await deciding(
            call,
            response: { outcome in
                guard case .redeemed(let outcome) = outcome else {
                    return RenderedResponse(.refusedTicket)
                }
                return Self.response(
                    to: outcome, response.credentialID, passkeySettings, tellsReasons: false)
            }
        ) { recorder throws(VerifierError) in
            try await passkeys.finishRegistration(
                with: ticket, response: response, name: name, origin: call.origin,
                recorder: recorder)
        }
    }

    /// `POST /v1/browser/assertions`.
    fileprivate func verifyInBrowser(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let (passkeys, _) = try configured(call)
        let ceremony = try ceremony(call)
        let response = try assertionResponse(call)
        let device = token(.knownDevice, call.fields.secret("device"))
        return try await deciding(
            call, response: { Self.response(toBrowser: $0, response.credentialID) }
        ) { recorder throws(VerifierError) in
            try await passkeys.finishAuthentication(
                SentAssertion(response, for: ceremony, device: device), issuingLogin: true,
                origin: call.origin, recorder: recorder)
        }
    }

    private static func response(toBrowser outcome: AssertionOutcome, _ id: [UInt8])
        -> RenderedResponse
    {
        guard case .signed(let signer, let stepUp) = outcome.result, let login = outcome.login
        else {
            return denial(outcome, id, because: nil)
        }
        let result = stepUp.isEmpty ? "accepted" : "step-up"
        var members: [(String, JSONValue)] = [
            ("verification", .text(outcome.verification.text)), ("result", .text(result)),
            ("login", .secret(login.token.text)), ("expires_at", .text(login.expiresAt.text)),
        ]
        if let device = signer.device { members.append(("device", .secret(device.text))) }
        return .answered(members, outcome: result)
    }

    private static func response(to outcome: RedemptionOutcome<PasskeyInvitation>)
        -> RenderedResponse
    {
        switch outcome {
        case .redeemed(let invitation):
            .made([
                (
                    "options",
                    invitation.options.json(
                        userName: invitation.account.userName,
                        displayName: invitation.account.displayName)
                ),
                ("expires_at", .text(invitation.expiresAt.text)),
            ])
        case .denied: RenderedResponse(.refusedTicket)
        }
    }
}

extension RouteTable {
    static let browsers = [
        Route(
            .post("browser", "ceremonies"), for: .browser,
            Operation(
                "beginBrowserCeremony",
                "Begins a ceremony on a page: to sign in or, with a ticket, to enrol.",
                Service.beginBrowserCeremony),
            takes: .body(.one(.browserCeremony)),
            responds: .made(.openCeremony, .invitation, problems: [.refusedTicket])),
        Route(
            .post("browser", "registrations"), for: .browser,
            Operation(
                "registerInBrowser",
                "Activates a passkey that a page created, and spends the ticket.",
                Service.registerInBrowser),
            takes: .body(.one(.browserRegistration)),
            responds: .answered(.registeredPasskey, .passkeyDenial, problems: [.refusedTicket])),
        Route(
            .post("browser", "assertions"), for: .browser,
            Operation(
                "verifyInBrowser",
                "Verifies a passkey's signature on a page, and issues a login ticket.",
                Service.verifyInBrowser),
            takes: .body(.one(.browserAssertion)),
            responds: .answered(.browserAcceptance, .assertionDenial)),
    ]
}

extension Shape {
    fileprivate static let browserCeremony = Shape(
        "BrowserCeremony", [.optional("ticket", .text(.enrolmentTicket))])

    fileprivate static let browserRegistration = Shape(
        "BrowserRegistration", [.ticket, .created, .label])

    fileprivate static let browserAssertion = Shape(
        "BrowserAssertion", [.ceremony, .signed, .device])

    fileprivate static let invitation = Shape(
        "Invitation", [.required("options", .object(creationOptions)), .expiry])

    fileprivate static let browserAcceptance = Shape(
        "BrowserAcceptance", [.verification, .acceptedOrStepUp, .login, .expiry, .newDevice])
}
