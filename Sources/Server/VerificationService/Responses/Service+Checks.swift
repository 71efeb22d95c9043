internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

extension Service {
    /// `POST /v1/verifications`.
    fileprivate func verify(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let subject = try subject(call.fields.string("subject"))
        var request = VerificationRequest(
            try code(call.fields.secret("code"), field: "code"), of: subject)
        request.credential = call.fields.string("credential").flatMap { CredentialID(text: $0) }
        request.counter = call.fields.whole("counter").map { UInt64($0) }
        request.device = token(.knownDevice, call.fields.secret("device"))
        request.remembersDevice = call.fields.flag("remember") ?? false
        let tellsReasons = call.has(.reasons)
        return try await deciding(
            call, response: { Self.response(to: $0, tellsReasons: tellsReasons) }
        ) { [request] recorder throws(VerifierError) in
            let outcome = try await call.verifier.verify(
                request, origin: call.origin, recorder: recorder)
            watch(outcome, for: subject)
            return outcome
        }
    }

    /// Counts a decision about a code, to detect guessing on many subjects; no decision changes.
    func watch(_ outcome: VerificationOutcome, for subject: Subject) {
        var isAccepted = false
        if case .accepted = outcome.result { isAccepted = true }
        let isSpraying = deniedSubjects.enter(
            subject.text, isAccepted: isAccepted, at: dependencies.instant())
        guard isSpraying else { return }
        metrics.spraying()
        dependencies.sprayingNoticed()
    }

    /// `POST /v1/logins/redeem`.
    fileprivate func redeemLogin(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let ticket = try token(.loginTicket, in: "login", of: call)
        return try await deciding(call, response: Self.response(to:)) {
            recorder throws(VerifierError) in
            try await call.verifier.redeemLogin(
                ticket, by: call.clientID, origin: call.origin, recorder: recorder)
        }
    }

    /// Builds the response to a verification.
    ///
    /// Without the scope `reasons`, all denials look the same (OWASP ASVS 6.3.8).
    private static func response(
        to outcome: VerificationOutcome, tellsReasons: Bool
    ) -> RenderedResponse {
        let verification = ("verification", JSONValue.text(outcome.verification.text))
        switch outcome.result {
        case .accepted(let acceptance):
            var members: [(String, JSONValue)] = [
                verification, ("result", .text("accepted")),
                ("credential", .text(acceptance.credential.text)),
                ("type", .text(acceptance.kind.rawValue)), ("offset", .number(acceptance.offset)),
            ]
            if let remaining = acceptance.remaining {
                members.append(("remaining", .number(Int64(remaining))))
            }
            if let device = outcome.device { members.append(("device", .secret(device.text))) }
            return .answered(members, outcome: "accepted")
        case .denied(let denial):
            var members: [(String, JSONValue)] = [verification, ("result", .text("denied"))]
            if tellsReasons {
                members.append(("reason", .text(name(of: denial))))
                if case .throttled(let wait) = denial {
                    members.append(("retry_after_ms", .number(max(0, wait))))
                }
            }
            return .answered(members, outcome: name(of: denial))
        }
    }

    static func name(of denial: VerificationOutcome.Denial) -> String {
        switch denial {
        case .wrong: "wrong"
        case .replayed: "replayed"
        case .throttled: "throttled"
        case .disabled: "disabled"
        case .unknown: "unknown"
        }
    }

    private static func response(to outcome: RedemptionOutcome<SignedIn>) -> RenderedResponse {
        switch outcome {
        case .redeemed(let signedIn):
            let stepUp = signedIn.passkey?.stepUp ?? []
            let result = stepUp.isEmpty ? "accepted" : "step-up"
            var members: [(String, JSONValue)] = [
                ("result", .text(result)), ("subject", .text(signedIn.subject.text)),
                ("credential", .text(signedIn.credential.text)),
                ("type", .text(signedIn.kind.rawValue)),
                ("verification", .text(signedIn.verification.text)),
                ("verified_at", .text(signedIn.verifiedAt.text)),
            ]
            if let passkey = signedIn.passkey {
                members += [
                    ("user_verified", .flag(passkey.isUserVerified)), ("step_up", json(stepUp)),
                ]
            }
            if let key = signedIn.deviceKey { members += Self.members(of: key) }
            return .answered(members, outcome: result)
        case .denied: return .answered([("result", .text("denied"))], outcome: "denied")
        }
    }
}

extension RouteTable {
    static let checks = [
        Route(
            .post("verifications"), for: .scope(.verify),
            Operation("verify", "Verifies a code, and spends it if it is correct.", Service.verify),
            takes: .body(.one(.verification)), responds: .answered(.acceptance, .denial)),
        Route(
            .post("logins", "redeem"), for: .scope(.verify),
            Operation(
                "redeemLogin",
                "Redeems a login ticket, which is valid once, and returns who signed in.",
                Service.redeemLogin),
            takes: .body(.one(.loginRedemption)), responds: .answered(.signedIn, .refusal)),
    ]
}

extension Shape {
    fileprivate static let verification = Shape(
        "Verification",
        [
            .subject, .required("code", .text(.code)),
            .optional("credential", .text(.credential)),
            // The client may state the counter (RFC 4226, appendix E.4).
            .optional("counter", .whole(0...Int64.max)),
            .device, .optional("remember", .flag),
        ])

    fileprivate static let acceptance = Shape(
        "Acceptance",
        [
            .verification, .accepted, .credential,
            .required("type", .choice(["totp", "hotp", "recovery"])),
            .required("offset", .whole(Int64.min...Int64.max)),
            .optional("remaining", .whole(0...10)).noting(
                "Only for a recovery code: how many codes of the set are left."),
            .device.noting("Only if the request has `remember` and no known `device`."),
        ])

    fileprivate static let denial = Shape(
        "Denial",
        [
            .verification, .denied,
            .optional(
                "reason",
                .choice(["wrong", "replayed", "throttled", "disabled", "unknown"])
            ).noting(
                "Only with the scope `reasons`. Show it to a person only after the first factor: `replayed` confirms that the code was correct."
            ),
            .optional("retry_after_ms", .whole(0...Int64.max)).noting(
                "Only with the reason `throttled`."),
        ])

    fileprivate static let loginRedemption = Shape("LoginRedemption", [.login])

    fileprivate static let signedIn = Shape(
        "SignedIn",
        [
            // Only a passkey login can need a step-up.
            .required("result", .choice(["accepted", "step-up"])), .subject, .credential,
            .required("type", .choice(CredentialKind.signingIn.map(\.rawValue))), .verification,
            .required("verified_at", .text(.time)),
        ] + Field.signedInWithPasskey + Field.signedInWithKey)

    fileprivate static let refusal = Shape("Refusal", [.denied])
}

extension CredentialKind {
    /// The kinds of credentials whose holders sign in on their own, and get a login ticket.
    fileprivate static let signingIn: [CredentialKind] = [.secret, .passkey, .key]
}
