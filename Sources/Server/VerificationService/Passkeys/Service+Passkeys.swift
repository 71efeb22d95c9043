internal import PasskeyVerification
internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

extension Service {
    /// `POST /v1/subjects/{subject}/credentials` with the type `passkey`.
    func enrolPasskey(_ call: Call, for subject: Subject) async throws(Refusal) -> RenderedResponse
    {
        let (passkeys, passkeySettings) = try configured(call)
        let enrolment = PasskeyEnrolment(
            for: subject, name: call.fields.string("name") ?? "",
            policy: try policy(call, passkeySettings),
            replacing: call.fields.string("replaces").flatMap { CredentialID(text: $0) })
        let userName = call.fields.string("user_name") ?? ""
        let displayName = call.fields.string("user_display_name") ?? userName
        if call.fields.string("via") == "page" {
            guard settings.pages != nil else { throw Refusal(.notConfigured("pages")) }
            let page = passkeySettings.origins[0] + PageResource.enrolment.rawValue
            let account = PasskeyAccount(userName: userName, displayName: displayName)
            return try await deciding(call, response: { Self.response(to: $0, page: page) }) {
                recorder throws(VerifierError) in
                try await passkeys.issueTicket(
                    for: enrolment, account: account, canManage: call.has(.manage),
                    origin: call.origin, recorder: recorder)
            }
        }
        return try await deciding(
            call,
            response: { Self.response(to: $0, userName: userName, displayName: displayName) }
        ) { recorder throws(VerifierError) in
            try await passkeys.beginRegistration(
                enrolment, canManage: call.has(.manage), origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/credentials/{credential}/registration`.
    fileprivate func registerPasskey(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let (passkeys, passkeySettings) = try configured(call)
        let id = try credential(call)
        let response = try registrationResponse(call)
        let name = call.fields.string("name")
        let origin = call.browserOrigin
        let tellsReasons = call.has(.reasons)
        return try await deciding(
            call,
            response: { outcome in
                guard let outcome else { return RenderedResponse(.unknownCredential) }
                return Self.response(
                    to: outcome, response.credentialID, passkeySettings,
                    tellsReasons: tellsReasons)
            }
        ) { recorder throws(VerifierError) in
            try await passkeys.finishRegistration(
                of: id, with: response, name: name, origin: origin, recorder: recorder)
        }
    }

    /// `POST /v1/ceremonies`.
    fileprivate func beginCeremony(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let (passkeys, passkeySettings) = try configured(call)
        let policy = try policy(call, passkeySettings)
        var subject: Subject?
        if let text = call.fields.string("subject") { subject = try self.subject(text) }
        let isConditional = call.fields.flag("conditional") ?? false
        let id = call.fields.string("rp_id")
        guard id.map(passkeySettings.relyingParty.ids.contains) ?? true else {
            let ids = FieldKind.choice(passkeySettings.relyingParty.ids)
            throw Refusal(.invalidField(FieldFault("rp_id", expected: ids.expectation)))
        }
        return try await deciding(call, response: Self.response(to:)) {
            recorder throws(VerifierError) in
            try await passkeys.beginAuthentication(
                CeremonyRequest(
                    for: subject, at: id, policy: policy, isConditional: isConditional,
                    by: call.clientID), origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/assertions`.
    fileprivate func verifyAssertion(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let (passkeys, _) = try configured(call)
        let ceremony = try ceremony(call)
        let response = try assertionResponse(call)
        let device = token(.knownDevice, call.fields.secret("device"))
        let origin = call.browserOrigin
        let tellsReasons = call.has(.reasons)
        return try await deciding(
            call,
            response: { Self.response(to: $0, response.credentialID, tellsReasons: tellsReasons) }
        ) { recorder throws(VerifierError) in
            try await passkeys.finishAuthentication(
                SentAssertion(response, for: ceremony, device: device), by: call.clientID,
                origin: origin, recorder: recorder)
        }
    }

    /// `POST /v1/credentials/{credential}/step-up`.
    fileprivate func completeStepUp(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let (passkeys, _) = try configured(call)
        let id = try credential(call)
        let verification = call.fields.string("verification")
            .flatMap { VerificationID(text: $0) }
        guard let verification else { throw Refusal(.invalidField("verification")) }
        return try await deciding(
            call,
            response: { outcome in
                switch outcome {
                case .done: .answered([("result", .text("accepted"))], outcome: "accepted")
                case .refused: .answered([("result", .text("denied"))], outcome: "denied")
                case .unknown: RenderedResponse(.unknownCredential)
                }
            }
        ) { recorder throws(VerifierError) in
            try await passkeys.completeStepUp(
                of: id, for: verification, origin: call.origin, recorder: recorder)
        }
    }

    /// `GET /v1/subjects/{subject}/passkeys/signal`.
    fileprivate func listAcceptedPasskeys(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let (passkeys, passkeySettings) = try configured(call)
        let subject = try subject(call.parameters["subject"])
        let (ids, position) = (passkeySettings.relyingParty.ids, Int(call.query.whole("rp") ?? 0))
        guard ids.indices.contains(position) else { throw Refusal(.malformedQuery) }
        let signal = try await deciding(await passkeys.signal(for: subject, at: ids[position]))
        // Authenticators hide passkeys that are not listed, so nothing may be signalled while a
        // passkey is being registered.
        guard let members = signal.json?.members else { return RenderedResponse(.refusedByState) }
        return .answered(members, outcome: "listed")
    }
}

// The functions that the routes for applications and those for browsers share.
extension Service {
    /// The relying party, if the server is configured for passkeys.
    func configured(_ call: Call) throws(Refusal) -> (Passkeys, PasskeySettings) {
        guard let passkeys = call.deciders.passkeys, let settings = settings.passkeys else {
            throw Refusal(.notConfigured("rp-id"))
        }
        return (passkeys, settings)
    }

    private func policy(
        _ call: Call, _ settings: PasskeySettings
    ) throws(Refusal) -> PasskeyPolicy {
        try settings.floor.policy(call.fields.object("policy"))
    }

    func ceremony(_ call: Call) throws(Refusal) -> Token {
        try token(.ceremony, in: "ceremony", of: call)
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
        let fault = FieldFault(
            "response", expected: "what the browser returned, as toJSON() writes it")
        return try replacingErrors(of: read(value), with: Refusal(.invalidField(fault)))
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

extension RouteTable {
    static let passkeys = [
        Route(
            .post("credentials", .credential, "registration"), for: .scope(.enrol),
            Operation(
                "registerPasskey",
                "Activates a passkey with what the browser returned after it was created.",
                Service.registerPasskey),
            takes: .body(.one(.passkeyRegistrationResponse)),
            responds: .answered(
                .registeredPasskey, .passkeyDenial,
                problems: [.unknownCredential, .notConfigured("rp-id")])),
        Route(
            .post("ceremonies"), for: .scope(.verify),
            Operation(
                "beginCeremony", "Begins a ceremony in which a passkey signs in.",
                Service.beginCeremony),
            takes: .body(.one(.ceremony)),
            responds: .made(.openCeremony, problems: [.weakPolicy, .notConfigured("rp-id")])),
        Route(
            .post("assertions"), for: .scope(.verify),
            Operation(
                "verifyAssertion", "Verifies a passkey's signature, and ends the ceremony.",
                Service.verifyAssertion),
            takes: .body(.one(.assertionResponse)),
            responds: .answered(.assertion, .assertionDenial, problems: [.notConfigured("rp-id")])),
        Route(
            .post("credentials", .credential, "step-up"), for: .scope(.verify),
            Operation(
                "completeStepUp",
                "Records that the application obtained the second proof of a step-up.",
                Service.completeStepUp),
            takes: .body(.one(.stepUp)),
            responds: .answered(.result, problems: [.unknownCredential, .notConfigured("rp-id")])),
        Route(
            .get("subjects", .subject, "passkeys", "signal"), for: .scope(.manage),
            Operation(
                "listAcceptedPasskeys",
                "Lists a subject's passkeys for signalAllAcceptedCredentials.",
                Service.listAcceptedPasskeys),
            takes: .query([.optional("rp", .whole(0...255))]),
            responds: .answered(
                .acceptedPasskeys, problems: [.refusedByState, .notConfigured("rp-id")])),
    ]
}

extension Field {
    fileprivate static let policy = optional(
        "policy",
        .object(
            Shape(
                "PasskeyPolicy",
                PolicyMember.allCases.map { .optional($0.rawValue, .choice($0.values)) })))
}

// The user agent in these requests is the browser's, because the request comes from the
// application.
extension Shape {
    /// The enrolment of a passkey.
    static let passkeyEnrolment = Shape(
        "PasskeyEnrolment",
        [
            .required("type", .choice(["passkey"])), .required("user_name", .text(.label)),
            .optional("user_display_name", .text(.label)), .label, .policy,
            .optional("replaces", .text(.credential)), .optional("via", .choice(["page"])),
        ])

    fileprivate static let ceremony = Shape(
        "Ceremony",
        [
            .required("type", .choice(["passkey"])), .optional("subject", .text(.subject)),
            .policy, .optional("conditional", .flag), .optional("rp_id", .text(.any)),
        ])

    fileprivate static let passkeyRegistrationResponse = Shape(
        "PasskeyRegistrationResponse", [.created, .label, .userAgent])

    fileprivate static let assertionResponse = Shape(
        "AssertionResponse", [.ceremony, .signed, .device, .userAgent])

    fileprivate static let stepUp = Shape("StepUp", [.verification])
}

extension Shape {
    static let passkeyRegistration = Shape(
        "PasskeyRegistration",
        [.credential, .pending, .required("options", .object(creationOptions)), .expiry])

    static let passkeyTicket = Shape(
        "PasskeyTicket",
        [.credential, .pending, .ticket, .required("link", .text(.any)), .expiry])

    fileprivate static let assertion = Shape(
        "Assertion",
        [
            .verification, .acceptedOrStepUp, .credential,
            .required("type", .choice(["passkey"])), .subject, .userVerified, .deviceBound,
            .backedUp, .required("sign_count", .choice(CounterFinding.allCases.map(\.rawValue))),
            .stepUpReasons, .newDevice,
        ])

    fileprivate static let acceptedPasskeys = Shape(
        "AcceptedPasskeys",
        [
            .required("rpId", .text(.any)), .required("userId", .text(.any)),
            .required("allAcceptedCredentialIds", .list(.text(.any), counts: 0...Int.max)),
        ])
}
