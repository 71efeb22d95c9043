internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

extension Service {
    /// `GET /v1/subjects/{subject}/credentials`.
    fileprivate func listCredentials(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let subject = try subject(call.parameters["subject"])
        let after = call.query.whole("after").map { UnixTime(milliseconds: $0) }
        let limit = Int(call.query.whole("limit") ?? 1_000)
        let page = try await deciding(
            await call.verifier.credentials(of: subject, revokedBefore: after, limit: limit))
        var members: [(String, JSONValue)] = [("credentials", .list(page.credentials.map(json)))]
        if let next = page.next { members.append(("next", .number(next.milliseconds))) }
        return .answered(members, outcome: "listed")
    }

    /// `DELETE /v1/subjects/{subject}`.
    fileprivate func closeAccount(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let subject = try subject(call.parameters["subject"])
        _ = try await deciding(await call.verifier.closeAccount(of: subject, origin: call.origin))
        return .done
    }

    /// `PATCH /v1/credentials/{credential}`.
    fileprivate func renameCredential(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let id = try credential(call)
        guard let name = call.fields.string("name") else { throw Refusal(.missingField("name")) }
        return Self.response(
            to: try await deciding(await call.verifier.rename(id, to: name, origin: call.origin)))
    }

    /// `DELETE /v1/credentials/{credential}`.
    fileprivate func revokeCredential(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let id = try credential(call)
        return Self.response(
            to: try await deciding(await call.verifier.revoke(id, origin: call.origin)))
    }

    /// `POST /v1/credentials/{credential}/confirm`.
    fileprivate func confirmCredential(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let id = try credential(call)
        let code = try code(call.fields.secret("code"), field: "code")
        return try await deciding(call, response: Self.result(of:)) {
            recorder throws(VerifierError) in
            try await call.verifier.confirm(id, code: code, origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/credentials/{credential}/resync`.
    fileprivate func resynchronizeCredential(_ call: Call) async throws(Refusal) -> RenderedResponse
    {
        let id = try credential(call)
        guard let codes = call.fields.secrets("codes"), codes.count == 2 else {
            throw Refusal(.invalidField("codes"))
        }
        let first = try code(codes[0], field: "codes")
        let second = try code(codes[1], field: "codes")
        return try await deciding(call, response: Self.result(of:)) {
            recorder throws(VerifierError) in
            try await call.verifier.resynchronize(
                id, first: first, second: second, origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/credentials/{credential}/unlock`.
    fileprivate func unlockCredential(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let id = try credential(call)
        return try await deciding(call, response: Self.response(to:)) {
            recorder throws(VerifierError) in
            try await call.verifier.unlock(id, origin: call.origin, recorder: recorder)
        }
    }

    /// The response to a code for a credential that the application specified.
    static func result(of outcome: VerificationOutcome) -> RenderedResponse {
        switch outcome.result {
        case .accepted: .answered([("result", .text("accepted"))], outcome: "accepted")
        case .denied(.unknown): RenderedResponse(.unknownCredential)
        case .denied: .answered([("result", .text("denied"))], outcome: "denied")
        }
    }

    private static func response(to outcome: ChangeOutcome) -> RenderedResponse {
        switch outcome {
        case .done: .done
        case .unknown: RenderedResponse(.unknownCredential)
        case .refused: RenderedResponse(.refusedByState)
        }
    }

    func json(_ summary: CredentialSummary) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("credential", .text(summary.id.text)), ("type", .text(summary.kind.rawValue)),
            ("state", .text(summary.state.rawValue)),
        ]
        if !summary.name.isEmpty { members.append(("name", .text(summary.name))) }
        members.append(("created_at", .text(summary.createdAt.text)))
        for (name, time) in [
            ("expires_at", summary.lapsesAt), ("confirmed_at", summary.confirmedAt),
            ("last_used_at", summary.lastUsedAt), ("ended_at", summary.endedAt),
            ("waits_until", summary.waitsUntil),
        ] {
            if let time { members.append((name, .text(time.text))) }
        }
        if let reason = summary.endReason { members.append(("end_reason", .text(reason.rawValue))) }
        if !summary.origin.userAgent.isEmpty {
            members.append(("user_agent", .text(summary.origin.userAgent)))
        }
        members.append(("failures", .number(Int64(summary.failures))))
        if let remaining = summary.remaining {
            members.append(("remaining", .number(Int64(remaining))))
        }
        if summary.hasShortKey { members.append(("short_key", .flag(true))) }
        if let custody = summary.custody { members.append(("custody", .text(custody.rawValue))) }
        if let passkey = summary.passkey { members += facts(about: passkey) }
        return .object(members)
    }

    private func facts(about passkey: PasskeySummary) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("device_bound", .flag(passkey.isDeviceBound)),
            ("backed_up", .flag(passkey.isBackedUp)),
            ("user_verified", .flag(passkey.wasUserVerified)),
            ("attestation", .text(passkey.attestation)),
        ]
        if let model = passkey.model, let settings = settings.passkeys {
            members.append(("authenticator", .text(settings.name(of: model))))
        }
        members.append(("transports", .list(passkey.transports.map(JSONValue.text))))
        return members
    }
}

extension RouteTable {
    static let management = [
        Route(
            .get("subjects", .subject, "credentials"), for: .scope(.manage),
            Operation(
                "listCredentials", "Lists a subject's credentials, without secrets.",
                Service.listCredentials),
            takes: .query([.optional("after", .whole(0...Int64.max)), .pageLimit]),
            responds: .answered(.credentials)),
        Route(
            .delete("subjects", .subject), for: .scope(.manage),
            Operation(
                "closeAccount",
                "Revokes all credentials of a subject, and tells devices to wipe their secrets.",
                Service.closeAccount),
            responds: .done()),
        Route(
            .patch("credentials", .credential), for: .scope(.manage),
            Operation("renameCredential", "Renames a credential.", Service.renameCredential),
            takes: .body(.one(.rename)),
            responds: .done(problems: [.unknownCredential, .refusedByState])),
        Route(
            .delete("credentials", .credential), for: .scope(.manage),
            Operation(
                "revokeCredential", "Revokes a credential and deletes its secrets.",
                Service.revokeCredential),
            responds: .done(problems: [.unknownCredential])),
        Route(
            .post("credentials", .credential, "confirm"), for: .scope(.enrol),
            Operation(
                "confirmCredential",
                "Activates a credential with its first code, and spends the code.",
                Service.confirmCredential),
            takes: .body(.one(.confirmation)),
            responds: .answered(.result, problems: [.unknownCredential])),
        Route(
            .post("credentials", .credential, "resync"), for: .scope(.manage),
            Operation(
                "resynchronizeCredential",
                "Finds the counter or the clock drift from two consecutive codes.",
                Service.resynchronizeCredential),
            takes: .body(.one(.resynchronization)),
            responds: .answered(.result, problems: [.unknownCredential])),
        Route(
            .post("credentials", .credential, "unlock"), for: .scope(.manage),
            Operation(
                "unlockCredential", "Ends a wait. Does not re-enable a disabled credential.",
                Service.unlockCredential),
            responds: .done(problems: [.unknownCredential, .refusedByState])),
    ]
}

extension Shape {
    fileprivate static let rename = Shape("Rename", [.required("name", .text(.label))])

    fileprivate static let confirmation = Shape(
        "Confirmation", [.required("code", .text(.oneTimePassword))])

    fileprivate static let resynchronization = Shape(
        "Resynchronization",
        [.required("codes", .list(.text(.oneTimePassword), counts: 2...2))])

    /// The result of a check, when the application needs no further details.
    static let result = Shape("Result", [.required("result", .choice(["accepted", "denied"]))])

    fileprivate static let credentials = Shape(
        "Credentials",
        [
            .required("credentials", .list(.object(listedCredential), counts: 0...Int.max)),
            .optional("next", .whole(0...Int64.max)).noting("Only if there are more."),
        ])

    /// A credential in a list of credentials.
    static let listedCredential = Shape(
        "Credential",
        [
            .credential,
            .required("type", .choice(CredentialKind.allCases.map(\.rawValue))),
            .required("state", .choice(CredentialState.allCases.map(\.rawValue))),
            .optional("name", .text(.any)).noting("Absent if the credential has none."),
            .required("created_at", .text(.time)),
            .optional("expires_at", .text(.time)).noting("Only while it is pending."),
            .optional("confirmed_at", .text(.time)).noting("Absent until it is confirmed."),
            .optional("last_used_at", .text(.time)).noting("Absent until it is used."),
            .optional("ended_at", .text(.time)).noting("Only if it was disabled or revoked."),
            .optional("waits_until", .text(.time)).noting("Only during a wait after wrong codes."),
            .optional("end_reason", .text(.any)).noting("Only if it was disabled or revoked."),
            .optional("user_agent", .text(.any)).noting("Absent if it is unknown."),
            .required("failures", .whole(0...Int64.max)),
            .optional("remaining", .whole(0...10)).noting(
                "Only for recovery codes: how many are left."),
            .optional("short_key", .exactly(true)).noting(
                "Only if an imported key has fewer than 128 bits."),
            .secretCustody.noting(
                "Only for an enrolled secret that its device binds to something."),
        ] + Field.listedPasskey)
}

// The server's own records: its events and its interface.
extension Service {
    /// `GET /v1/events`.
    fileprivate func listEvents(_ call: Call) async throws(Refusal) -> RenderedResponse {
        try await events(call, of: nil)
    }

    /// `GET /v1/subjects/{subject}/events`.
    fileprivate func listSubjectEvents(_ call: Call) async throws(Refusal) -> RenderedResponse {
        try await events(call, of: try subject(call.parameters["subject"]))
    }

    private func events(_ call: Call, of subject: Subject?) async throws(Refusal)
        -> RenderedResponse
    {
        let since = call.query.whole("since").map { UnixTime(milliseconds: $0) }
        let after = UInt64(call.query.whole("after") ?? 0)
        let limit = Int(call.query.whole("limit") ?? 100)
        let page = try await deciding(
            await call.verifier.eventPage(of: subject, since: since, after: after, limit: limit))
        return .answered(
            [
                ("events", .list(page.events.compactMap(\.json))),
                // The position to continue from. Events that a newer server wrote are skipped.
                ("last", .counter(page.last)),
            ], outcome: "listed")
    }

    /// `GET /v1/openapi.json`.
    fileprivate func describeInterface(_ call: Call) async throws(Refusal) -> RenderedResponse {
        RenderedResponse(.answered, description, outcome: "described")
    }
}

extension RouteTable {
    static let records = [
        Route(
            .get("events"), for: .scope(.audit),
            Operation("listEvents", "Lists events in order, after a position.", Service.listEvents),
            takes: .query(Field.eventPage),
            responds: .answered(.events)),
        Route(
            .get("subjects", .subject, "events"), for: .scope(.audit),
            Operation(
                "listSubjectEvents", "Lists a subject's events in order, after a position.",
                Service.listSubjectEvents),
            takes: .query(Field.eventPage), responds: .answered(.events)),
        Route(
            .get("openapi.json"), for: .everybody,
            Operation(
                "describeInterface", "Returns this OpenAPI document.", Service.describeInterface),
            responds: .answered()),
    ]
}

extension Field {
    /// The maximum number of elements on a page.
    static let pageLimit = optional("limit", .whole(1...1_000))

    fileprivate static let eventPage: [Field] = [
        .optional("after", .whole(0...Int64.max)), .optional("since", .whole(0...Int64.max)),
        .pageLimit,
    ]
}

extension Shape {
    fileprivate static let events = Shape(
        "Events",
        [
            .required("events", .list(.object(event), counts: 0...1_000)),
            .required("last", .whole(0...Int64.max)),
        ])
}
