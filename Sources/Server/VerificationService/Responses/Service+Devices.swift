internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

extension Service {
    /// `POST /v1/device/enrolments`.
    fileprivate func redeemEnrolment(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let ticket = try token(.enrolmentTicket, in: "ticket", of: call)
        let origin = call.deviceOrigin
        let name = call.fields.string("name")
        let custody = call.fields.string("custody").flatMap(SecretCustody.init)
        return try await deciding(call, response: Self.response(to:)) {
            recorder throws(VerifierError) in
            try await call.verifier.redeemEnrolment(
                ticket, name: name, custody: custody, origin: origin, recorder: recorder)
        }
    }

    /// `POST /v1/device/logins`.
    fileprivate func signIn(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let secret = try token(.secret, in: "secret", of: call)
        guard let nonceText = call.fields.secret("rotation_nonce"),
            let nonce = nonceText.withBytes({ TextForm.nonce($0) })
        else { throw Refusal(.invalidField("rotation_nonce")) }
        let id = try namedCredential(call)
        return try await deciding(call, response: Self.response(to:)) {
            recorder throws(VerifierError) in
            try await call.verifier.login(
                id, secret: secret, nonce: nonce, origin: call.origin, recorder: recorder)
        }
    }

    private static func response(to outcome: RedemptionOutcome<IssuedSecret>) -> RenderedResponse {
        switch outcome {
        case .redeemed(let handedOut):
            .made([
                ("credential", .text(handedOut.credential.text)),
                ("secret", .secret(handedOut.secret.text)),
                ("generation", .counter(handedOut.generation)),
            ])
        case .denied: RenderedResponse(.refusedTicket)
        }
    }

    private static func response(to outcome: LoginOutcome) -> RenderedResponse {
        let verification = ("verification", JSONValue.text(outcome.verification.text))
        switch outcome.result {
        case .accepted(let acceptance):
            return .answered(
                [
                    verification, ("result", .text("accepted")),
                    ("login", .secret(acceptance.login.text)),
                    ("expires_at", .text(acceptance.expiresAt.text)),
                    ("secret", .secret(acceptance.secret.text)),
                    ("generation", .counter(acceptance.generation)),
                ], outcome: "accepted")
        case .denied(let wipe): return denial(outcome.verification, wipe: wipe)
        }
    }

    /// The response to a device whose secret or signature is denied.
    static func denial(_ verification: VerificationID, wipe: WipeReason?) -> RenderedResponse {
        let denied: [(String, JSONValue)] = [
            ("verification", .text(verification.text)), ("result", .text("denied")),
        ]
        guard let wipe else {
            return .answered(denied + [("wipe", .flag(false))], outcome: "denied")
        }
        return .answered(
            denied + [("wipe", .flag(true)), ("wipe_reason", .text(wipe.rawValue))],
            outcome: wipe.rawValue)
    }
}

extension Call {
    /// The sender, as the device describes itself.
    ///
    /// The device's own description takes precedence over the User-Agent of its HTTP library.
    var deviceOrigin: Origin {
        Origin(
            address: origin.address, userAgent: fields.string("user_agent") ?? origin.userAgent,
            client: origin.client)
    }
}

extension RouteTable {
    static let devices = [
        Route(
            .post("device", "enrolments"), for: .device,
            Operation(
                "redeemEnrolment", "Exchanges an enrolment ticket for the device's first secret.",
                Service.redeemEnrolment),
            takes: .body(.one(.ticketRedemption)),
            responds: .made(.deviceSecret, problems: [.refusedTicket])),
        Route(
            .post("device", "logins"), for: .device,
            Operation(
                "signIn", "Exchanges an enrolled secret for a login ticket and the next secret.",
                Service.signIn),
            takes: .body(.one(.login)),
            responds: .answered(.loginAcceptance, .loginDenial, .loginWipe)),
    ]
}

extension Field {
    /// The binding of an enrolled secret to its device.
    static let secretCustody = optional(
        "custody", .choice(SecretCustody.allCases.map(\.rawValue)))
    fileprivate static let secret = required("secret", .text(.secret))
    fileprivate static let generation = required("generation", .whole(0...Int64.max))
}

extension Shape {
    fileprivate static let ticketRedemption = Shape(
        "TicketRedemption", [.ticket, .label, .userAgent, .secretCustody])

    fileprivate static let login = Shape(
        "Login", [.credential, .secret, .required("rotation_nonce", .text(.nonce))])

    fileprivate static let deviceSecret = Shape(
        "DeviceSecret", [.credential, .secret, .generation])

    fileprivate static let loginAcceptance = Shape(
        "LoginAcceptance", [.verification, .accepted, .login, .expiry, .secret, .generation])

    /// The shape is also used for a denied signature.
    static let loginDenial = Shape(
        "LoginDenial", [.verification, .denied, .required("wipe", .exactly(false))])

    /// The shape is also used for a denied signature.
    static let loginWipe = Shape(
        "LoginWipe",
        [
            .verification, .denied, .required("wipe", .exactly(true)),
            .required("wipe_reason", .choice(WipeReason.allCases.map(\.rawValue))),
        ])
}
