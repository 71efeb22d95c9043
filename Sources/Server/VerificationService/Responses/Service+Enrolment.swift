internal import OneTimePassword
internal import QRDrawing
internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

extension Service {
    /// `POST /v1/subjects/{subject}/credentials`.
    fileprivate func enrol(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let subject = try subject(call.parameters["subject"])
        switch call.fields.string("type") {
        case "recovery":
            return try await deciding(call, response: Self.response(to:)) {
                recorder throws(VerifierError) in
                try await call.verifier.enrolRecoveryCodes(
                    for: subject, canManage: call.has(.manage), origin: call.origin,
                    recorder: recorder)
            }
        case "secret":
            let name = call.fields.string("name") ?? ""
            let audience = try audience(call)
            return try await deciding(call, response: Self.response(to:)) {
                recorder throws(VerifierError) in
                try await call.verifier.enrolSecret(
                    for: subject, name: name, audience: audience, origin: call.origin,
                    recorder: recorder)
            }
        case "passkey": return try await enrolPasskey(call, for: subject)
        case "key": return try await enrolDeviceKey(call, subject)
        case _ where call.fields.scope == .import:
            let given = try oneTimePasswordImport(call.fields)
            return try await deciding(call, response: Self.response(to:)) {
                recorder throws(VerifierError) in
                try await call.verifier.importOneTimePassword(
                    given, for: subject, origin: call.origin, recorder: recorder)
            }
        default:
            let enrolment = try enrolment(call)
            if call.fields.string("via") == "ticket" {
                return try await deciding(call, response: Self.response(to:)) {
                    recorder throws(VerifierError) in
                    try await call.verifier.issueOneTimePasswordTicket(
                        enrolment, for: subject, origin: call.origin, recorder: recorder)
                }
            }
            return try await deciding(call, response: Self.response(to:)) {
                recorder throws(VerifierError) in
                try await call.verifier.enrolOneTimePassword(
                    enrolment, for: subject, origin: call.origin, recorder: recorder)
            }
        }
    }

    /// The clients that may redeem the device's logins: the enrolling client and the clients in the
    /// request.
    func audience(_ call: Call) throws(Refusal) -> Set<ClientID> {
        var audience: Set<ClientID> = []
        if let client = call.clientID { audience.insert(client) }
        for text in call.fields.strings("redeemable_by") ?? [] {
            guard let client = ClientID(text: text) else {
                throw Refusal(.invalidField("redeemable_by"))
            }
            audience.insert(client)
        }
        return audience
    }

    private func enrolment(_ call: Call) throws(Refusal) -> OneTimePasswordEnrolment {
        let fields = call.fields
        let key = try key(fields.secret("key"))
        return try Self.converting(
            OneTimePasswordEnrolment(
                issuer: fields.string("issuer") ?? "", account: fields.string("account") ?? "",
                factor: fields.string("type") == "hotp"
                    ? .counter(0) : .time(period: period(fields)),
                algorithm: algorithm(fields.string("algorithm")), digits: digits(fields), key: key,
                name: fields.string("name") ?? ""))
    }

    private func oneTimePasswordImport(
        _ fields: BodyFields
    ) throws(Refusal) -> OneTimePasswordImport {
        guard let key = try key(fields.secret("key")) else { throw Refusal(.missingField("key")) }
        // The shape does not permit negative numbers.
        let factor: OneTimePasswordImport.Factor =
            fields.string("type") == "hotp"
            ? .counter(UInt64(clamping: fields.whole("counter") ?? 0))
            : .time(
                period: period(fields),
                lastUsedStep: fields.whole("last_used_step").map(UInt64.init(clamping:)))
        return try Self.converting(
            OneTimePasswordImport(
                key: key, allowingShortKey: fields.flag("allow_short_key") ?? false,
                factor: factor, algorithm: algorithm(fields.string("algorithm")),
                digits: digits(fields), name: fields.string("name") ?? "",
                isConfirmed: fields.flag("confirmed") ?? false))
    }

    static func refusal(for fault: OneTimePasswordEnrolment.Fault) -> Refusal {
        switch fault {
        case .keyTooShort: Refusal(.keyTooShort)
        case .keyTooLong: Refusal(.invalidField("key"))
        case .digits: Refusal(.invalidField("digits"))
        case .period: Refusal(.invalidField("period"))
        // The range of a counter in JSON excludes the counter that is never accepted.
        case .counter: Refusal(.failed, cause: "counter")
        case .text(.issuer): Refusal(.invalidField(.untrimmed("issuer")))
        case .text(.account): Refusal(.invalidField(.untrimmed("account")))
        case .text(.name): Refusal(.invalidField("name"))
        }
    }

    private func period(_ fields: BodyFields) -> Int { Int(fields.whole("period") ?? 30) }

    private func digits(_ fields: BodyFields) -> Int { Int(fields.whole("digits") ?? 6) }

    private func key(_ text: SecretBytes?) throws(Refusal) -> SecretBytes? {
        guard let text else { return nil }
        return try replacingErrors(
            of: text.withBytes { text throws(OneTimePasswordError) in
                try Base32.decode(text, padding: .omitted)
            }, with: Refusal(.invalidField("key")))
    }

    private func algorithm(_ name: String?) -> HashAlgorithm {
        switch name {
        case "SHA256": .sha256
        case "SHA512": .sha512
        default: .sha1
        }
    }

    private static func response(to outcome: EnrolmentOutcome<OneTimePasswordGrant>)
        -> RenderedResponse
    {
        switch outcome {
        case .granted(let grant):
            guard let picture = picture(of: grant.uri) else { return RenderedResponse(.failed) }
            return .made([
                ("credential", .text(grant.credential.text)), ("state", .text("pending")),
                ("uri", .secret(grant.uri)), ("qr_png", .secret(picture)),
                ("expires_at", .text(grant.expiresAt.text)),
            ])
        case .refused(let refusal): return response(to: refusal)
        }
    }

    private static func response(to outcome: ImportOutcome) -> RenderedResponse {
        switch outcome {
        case .imported(let id, let expiresAt):
            return .made(
                [
                    ("credential", .text(id.text)),
                    ("state", .text(expiresAt == nil ? "active" : "pending")),
                ] + (expiresAt.map { [("expires_at", .text($0.text))] } ?? []))
        // A repeated import changes nothing; only its Idempotency-Key returns the first response.
        case .present: return RenderedResponse(.keyInUse)
        case .refused(let refusal): return response(to: refusal)
        }
    }

    private static func response(to outcome: EnrolmentOutcome<RecoveryGrant>) -> RenderedResponse {
        switch outcome {
        case .granted(let grant):
            .made([
                ("credential", .text(grant.credential.text)),
                ("codes", .list(grant.codes.map(JSONValue.secret))),
            ])
        case .refused(let refusal): response(to: refusal)
        }
    }

    private static func response(to outcome: EnrolmentOutcome<SecretGrant>) -> RenderedResponse {
        switch outcome {
        case .granted(let grant): ticket(grant.ticket, for: grant.credential, grant.expiresAt)
        case .refused(let refusal): response(to: refusal)
        }
    }

    /// The response with a ticket for a device.
    static func ticket(
        _ ticket: Token, for credential: CredentialID, _ expiresAt: UnixTime
    ) -> RenderedResponse {
        .made([
            ("credential", .text(credential.text)), ("state", .text("pending")),
            ("ticket", .secret(ticket.text)), ("expires_at", .text(expiresAt.text)),
        ])
    }

    static func response(to refusal: EnrolmentRefusal) -> RenderedResponse {
        switch refusal {
        case .keyInUse: RenderedResponse(.keyInUse)
        case .tooMany: RenderedResponse(.tooManyCredentials)
        case .unknownClient: RenderedResponse(.unknownClient)
        case .unknownCredential: RenderedResponse(.unknownCredential)
        case .pendingCredential: RenderedResponse(.refusedByState)
        case .foreignCredential: RenderedResponse(.missingScope(.manage))
        case .usedInFuture: RenderedResponse(.usedInFuture)
        }
    }

    /// The key URI as a QR code: a PNG in Base64.
    ///
    /// The image is built in ordinary memory, because it will be displayed outside the process.
    private static func picture(of uri: SecretBytes) -> SecretBytes? {
        do {
            let correction: ErrorCorrection =
                uri.count <= ErrorCorrection.medium.capacity ? .medium : .low
            let symbol = try uri.withBytes { uri throws(QRDrawingError) in
                try Symbol(encoding: uri, correction: correction)
            }
            let png = try writePNG(symbol.image(modulePixels: 4))
            return Base64.encode(SecretBytes(copying: png.span))
        } catch {
            return nil
        }
    }
}

extension FieldFault {
    /// The form of a label excludes U+0020 at both ends; the standard excludes every kind of space.
    fileprivate static func untrimmed(_ field: String) -> FieldFault {
        FieldFault(field, expected: "text without leading or trailing spaces of any kind")
    }
}

extension RouteTable {
    static let enrolment = [
        Route(
            .post("subjects", .subject, "credentials"), for: .scope(.enrol),
            Operation(
                "enrol",
                "Enrols a credential: a one-time-password key, recovery codes, an enrolled secret, "
                    + "a passkey or a device key.",
                Service.enrol),
            takes: .body(
                .byType([
                    ("totp", .timeBasedEnrolment), ("totp", .timeBasedImport),
                    ("totp", .timeBasedShortKeyImport),
                    ("hotp", .counterBasedEnrolment), ("hotp", .counterBasedImport),
                    ("hotp", .counterBasedShortKeyImport),
                    ("recovery", .recoveryEnrolment), ("secret", .secretEnrolment),
                    ("passkey", .passkeyEnrolment), ("key", .keyEnrolment),
                ])),
            responds: .made(
                .handedOutKey, .importedKey, .recoveryCodes, .enrolmentTicket,
                .passkeyRegistration, .passkeyTicket,
                problems: [
                    .keyTooShort, .keyInUse, .tooManyCredentials, .unknownClient, .usedInFuture,
                    .unknownCredential, .refusedByState, .weakPolicy, .notConfigured("rp-id"),
                ]))
    ]
}

extension Field {
    /// The clients that may redeem the device's logins, in addition to the enrolling client.
    static let redeemableBy = optional(
        "redeemable_by", .list(.text(.client), counts: 1...(Policy.maximumAudience - 1)))

    fileprivate static let labels: [Field] = [
        .required("issuer", .text(.label)), .required("account", .text(.label)),
    ]
    fileprivate static let codes: [Field] = [
        .optional("algorithm", .choice(["SHA1", "SHA256", "SHA512"])),
        .optional("digits", .whole(6...8)), .label,
    ]
    fileprivate static let key = optional("key", .text(.key))
    /// With a ticket, the subject fetches the key with `watchword-enrol`.
    fileprivate static let via = optional("via", .choice(["ticket"]))
    // At most two minutes (NIST SP 800-63B-4, section 3.1.4.1).
    fileprivate static let period = optional("period", .whole(1...120))
    fileprivate static let shortKeys = required("allow_short_key", .exactly(true)).requiring(
        .import)

    fileprivate static func timeBasedImport(_ key: FieldKind) -> [Field] {
        [.required("type", .choice(["totp"])), .required("key", key), period]
            + [.optional("last_used_step", .whole(0...Int64.max)).requiring(.import)]
            + imports
    }

    fileprivate static func counterBasedImport(_ key: FieldKind) -> [Field] {
        [.required("type", .choice(["hotp"])), .required("key", key)]
            // The value is the counter of the next code.
            + [.optional("counter", .whole(0...Int64.max)).requiring(.import)]
            + imports
    }

    // An import returns no key URI, so it needs no labels.
    fileprivate static let imports: [Field] =
        [
            .optional("confirmed", .flag).requiring(.import),
            .optional("issuer", .text(.label)), .optional("account", .text(.label)),
        ] + codes
}

extension Shape {
    fileprivate static let timeBasedEnrolment = Shape(
        "TimeBasedEnrolment",
        [.required("type", .choice(["totp"]))] + Field.labels + [.period, .key, .via]
            + Field.codes)

    fileprivate static let counterBasedEnrolment = Shape(
        "CounterBasedEnrolment",
        [.required("type", .choice(["hotp"]))] + Field.labels + [.key, .via] + Field.codes)

    fileprivate static let timeBasedImport = Shape(
        "TimeBasedImport", Field.timeBasedImport(.text(.importedKey)))

    fileprivate static let timeBasedShortKeyImport = Shape(
        "TimeBasedShortKeyImport", Field.timeBasedImport(.text(.shortKey)) + [.shortKeys])

    fileprivate static let counterBasedImport = Shape(
        "CounterBasedImport", Field.counterBasedImport(.text(.importedKey)))

    fileprivate static let counterBasedShortKeyImport = Shape(
        "CounterBasedShortKeyImport", Field.counterBasedImport(.text(.shortKey)) + [.shortKeys])

    fileprivate static let recoveryEnrolment = Shape(
        "RecoveryEnrolment", [.required("type", .choice(["recovery"]))])

    fileprivate static let secretEnrolment = Shape(
        "SecretEnrolment", [.required("type", .choice(["secret"])), .label, .redeemableBy])
}

extension Shape {
    fileprivate static let handedOutKey = Shape(
        "HandedOutKey",
        [
            .credential, .pending, .required("uri", .text(.keyURI)),
            .required("qr_png", .text(.base64)), .expiry,
        ])

    fileprivate static let importedKey = Shape(
        "ImportedKey",
        [
            .credential, .required("state", .choice(["active", "pending"])),
            .optional("expires_at", .text(.time)).noting("Only if the state is `pending`."),
        ])

    fileprivate static let recoveryCodes = Shape(
        "RecoveryCodes", [.credential, .required("codes", .list(.text(.code), counts: 10...10))])

    fileprivate static let enrolmentTicket = Shape(
        "EnrolmentTicket", [.credential, .pending, .ticket, .expiry])
}
