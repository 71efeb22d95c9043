internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography

extension Service {
    /// `GET /v1/subjects/{subject}/credentials`.
    func listCredentials(_ call: Call) async throws(Refusal) -> Answer {
        let subject = try subject(call.parameters["subject"])
        let after = call.query["after"].map { UnixTime(milliseconds: $0) }
        let limit = Int(call.query["limit"] ?? 1_000)
        let page = try await deciding { () async throws(VerifierError) in
            try await verifier.credentials(of: subject, revokedBefore: after, limit: limit)
        }
        var members: [(String, JSONValue)] = [("credentials", .list(page.credentials.map(json)))]
        if let next = page.next { members.append(("next", .number(next.milliseconds))) }
        return .answered(members, outcome: "listed")
    }

    /// `DELETE /v1/subjects/{subject}`.
    func closeAccount(_ call: Call) async throws(Refusal) -> Answer {
        let subject = try subject(call.parameters["subject"])
        _ = try await deciding { () async throws(VerifierError) in
            try await verifier.closeAccount(of: subject, origin: call.origin)
        }
        return .done
    }

    /// `PATCH /v1/credentials/{credential}`.
    func renameCredential(_ call: Call) async throws(Refusal) -> Answer {
        let id = try credential(call)
        guard let name = call.fields.string("name") else { throw Refusal(.missingField("name")) }
        return Self.reply(
            to: try await deciding { () async throws(VerifierError) in
                try await verifier.rename(id, to: name, origin: call.origin)
            })
    }

    /// `DELETE /v1/credentials/{credential}`.
    func revokeCredential(_ call: Call) async throws(Refusal) -> Answer {
        let id = try credential(call)
        return Self.reply(
            to: try await deciding { () async throws(VerifierError) in
                try await verifier.revoke(id, origin: call.origin)
            })
    }

    /// `POST /v1/credentials/{credential}/resync`.
    func resynchronizeCredential(_ call: Call) async throws(Refusal) -> Answer {
        let id = try credential(call)
        guard let codes = call.fields.secrets("codes"), codes.count == 2 else {
            throw Refusal(.invalidField("codes"))
        }
        let first = try code(codes[0], field: "codes")
        let second = try code(codes[1], field: "codes")
        return try await deciding(call, answer: Self.result(of:)) {
            recorder throws(VerifierError) in
            try await verifier.resynchronize(
                id, first: first, second: second, origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/credentials/{credential}/unlock`.
    func unlockCredential(_ call: Call) async throws(Refusal) -> Answer {
        let id = try credential(call)
        return try await deciding(call, answer: Self.reply(to:)) {
            recorder throws(VerifierError) in
            try await verifier.unlock(id, origin: call.origin, recorder: recorder)
        }
    }

    /// The response to a code for a credential that the application named.
    static func result(of outcome: VerificationOutcome) -> Answer {
        switch outcome.result {
        case .accepted: .answered([("result", .text("accepted"))], outcome: "accepted")
        case .denied(.unknown): Answer(.unknownCredential)
        case .denied: .answered([("result", .text("denied"))], outcome: "denied")
        }
    }

    private static func reply(to outcome: ChangeOutcome) -> Answer {
        switch outcome {
        case .done: .done
        case .unknown: Answer(.unknownCredential)
        case .refused: Answer(.refusedByState)
        }
    }

    private func json(_ summary: CredentialSummary) -> JSONValue {
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

extension Service {
    /// `GET /v1/events`.
    func listEvents(_ call: Call) async throws(Refusal) -> Answer {
        let after = UInt64(call.query["after"] ?? 0)
        let limit = Int(call.query["limit"] ?? 100)
        let events = try await deciding { () async throws(VerifierError) in
            try await verifier.events(after: after, limit: limit)
        }
        return .answered(
            [
                ("events", .list(events.compactMap(Self.json))),
                // The position to continue from. Events that a newer server wrote are skipped.
                ("last", .counter(events.last?.position ?? after)),
            ], outcome: "listed")
    }

    private static func json(_ chained: ChainedEvent) -> JSONValue? {
        guard let event = chained.event else { return nil }
        var members: [(String, JSONValue)] = [
            ("position", .counter(chained.position)), ("time", .text(event.time.text)),
            ("kind", .text(event.kind.rawValue)),
        ]
        if let reason = event.reason { members.append(("reason", .text(reason.rawValue))) }
        if let subject = event.subject { members.append(("subject", .text(subject.text))) }
        if let id = event.credential { members.append(("credential", .text(id.text))) }
        if let id = event.verification { members.append(("verification", .text(id.text))) }
        if let id = event.origin.client { members.append(("client", .text(id.text))) }
        if !event.origin.address.isEmpty {
            members.append(("address", .text(event.origin.address)))
        }
        if !event.origin.userAgent.isEmpty {
            members.append(("user_agent", .text(event.origin.userAgent)))
        }
        if let number = event.number { members.append(("number", .number(number))) }
        // Whether to notify the subject (RFC 4226, section 7.2; NIST SP 800-63B-4, section 4.6).
        members.append(("notify", .flag(event.isNotification)))
        return .object(members)
    }
}
