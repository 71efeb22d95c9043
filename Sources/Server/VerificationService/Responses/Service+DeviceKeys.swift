internal import Verification
internal import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

extension Service {
    /// `POST /v1/subjects/{subject}/credentials` for a device key.
    func enrolDeviceKey(_ call: Call, _ subject: Subject) async throws(Refusal) -> RenderedResponse
    {
        try requireAudience()
        let presence =
            call.fields.string("presence").flatMap(DeviceKeyTranscript.Presence.init(word:))
            ?? .none
        var enrolment = DeviceKeyEnrolment(
            for: subject, name: call.fields.string("name") ?? "", presence: presence,
            replacing: call.fields.string("replaces").flatMap { CredentialID(text: $0) })
        enrolment.audience = try audience(call)
        return try await deciding(call, response: Self.response(to:)) {
            [enrolment] recorder throws(VerifierError) in
            try await call.deviceKeys.enrol(
                enrolment, canManage: call.has(.manage), origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/challenges`.
    fileprivate func createConfirmation(_ call: Call) async throws(Refusal) -> RenderedResponse {
        try requireAudience()
        let credential = try namedCredential(call)
        guard let text = call.fields.string("text") else { throw Refusal(.missingField("text")) }
        // A device would refuse a text with more lines.
        guard DeviceKeyTranscript.lines(of: text).count <= DeviceKeyTranscript.maximumLines else {
            throw Refusal(.tooManyLines)
        }
        return try await deciding(call, response: Self.response(to:)) {
            recorder throws(VerifierError) in
            try await call.deviceKeys.challenge(
                for: credential, confirming: text, origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/device/keys`.
    fileprivate func registerDeviceKey(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let ticket = try token(.enrolmentTicket, in: "ticket", of: call)
        let sent = SentDeviceKey(
            point: try bytes(call, "public_key"), signature: try bytes(call, "signature"),
            presence: try presence(call),
            custody: call.fields.string("custody").flatMap(KeyCustody.init) ?? .vault,
            attestation: try evidence(call))
        let name = call.fields.string("name")
        return try await deciding(call, response: Self.response(to:)) {
            recorder throws(VerifierError) in
            try await call.deviceKeys.register(
                sent, with: ticket, name: name, origin: call.deviceOrigin, recorder: recorder)
        }
    }

    /// `POST /v1/device/keys/activation`.
    fileprivate func activateDeviceKey(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let credential = try namedCredential(call)
        guard let text = call.fields.secret("secret") else {
            throw Refusal(.invalidField("secret"))
        }
        let secret = try replacingErrors(
            of: text.withBytes { text throws(CryptographyError) in
                try Base64URL.decodeSecret(text)
            }, with: Refusal(.invalidField("secret")))
        return try await deciding(call, response: Self.response(toActivation:)) {
            recorder throws(VerifierError) in
            try await call.deviceKeys.activate(
                credential, with: secret, origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/device/challenges`.
    fileprivate func createDeviceChallenge(_ call: Call) async throws(Refusal) -> RenderedResponse {
        try requireAudience()
        let credential = try namedCredential(call)
        return try await deciding(call, response: Self.response(to:)) {
            recorder throws(VerifierError) in
            try await call.deviceKeys.challenge(
                for: credential, origin: call.origin, recorder: recorder)
        }
    }

    /// `POST /v1/device/signatures`.
    fileprivate func verifyDeviceSignature(_ call: Call) async throws(Refusal) -> RenderedResponse {
        let challenge = try token(.deviceChallenge, in: "challenge", of: call)
        guard let purpose = call.fields.string("purpose").flatMap(DeviceKeyPurpose.init) else {
            throw Refusal(.invalidField("purpose"))
        }
        let sent = DeviceKeySignature(
            credential: try namedCredential(call), challenge: challenge,
            audience: call.fields.string("audience") ?? "", purpose: purpose,
            presence: try presence(call), signature: try bytes(call, "signature"))
        return try await deciding(call, response: Self.response(to:)) {
            recorder throws(VerifierError) in
            try await call.deviceKeys.verify(sent, origin: call.origin, recorder: recorder)
        }
    }

    /// Without a server address, no device key can sign in.
    private func requireAudience() throws(Refusal) {
        guard !settings.audiences.isEmpty else { throw Refusal(.notConfigured("audience")) }
    }

    /// The credential that the body specifies.
    func namedCredential(_ call: Call) throws(Refusal) -> CredentialID {
        guard let id = call.fields.string("credential").flatMap({ CredentialID(text: $0) }) else {
            throw Refusal(.invalidField("credential"))
        }
        return id
    }

    private func presence(_ call: Call) throws(Refusal) -> DeviceKeyTranscript.Presence {
        let presence = call.fields.string("presence")
            .flatMap(DeviceKeyTranscript.Presence.init(word:))
        guard let presence else { throw Refusal(.invalidField("presence")) }
        return presence
    }

    /// The TPM's attestation of the key, if the device sends one.
    private func evidence(
        _ call: Call
    ) throws(Refusal) -> KeyAttestation? {
        guard let object = call.fields.object("attestation") else { return nil }
        func bytes(_ value: JSONValue?) throws(Refusal) -> [UInt8] {
            guard let text = value?.secretText,
                let bytes = text.withBytes({ TextForm.bytes($0) })
            else { throw Refusal(.invalidField("attestation")) }
            return bytes
        }
        var certificates: [[UInt8]] = []
        for certificate in object["certificates"]?.elements ?? [] {
            certificates.append(try bytes(certificate))
        }
        let evidence = KeyAttestation(
            certificates: certificates, endorsementKey: try bytes(object["endorsement_key"]),
            attestationKey: try bytes(object["attestation_key"]),
            deviceKey: try bytes(object["device_key"]),
            certification: try bytes(object["certification"]),
            signature: try bytes(object["signature"]))
        guard let evidence else { throw Refusal(.invalidField("attestation")) }
        return evidence
    }

    private func bytes(_ call: Call, _ field: String) throws(Refusal) -> [UInt8] {
        guard let text = call.fields.secret(field),
            let bytes = text.withBytes({ TextForm.bytes($0) })
        else { throw Refusal(.invalidField(FieldFault(field))) }
        return bytes
    }

    private static func response(to outcome: EnrolmentOutcome<DeviceKeyGrant>) -> RenderedResponse {
        switch outcome {
        case .granted(let grant): ticket(grant.ticket, for: grant.credential, grant.expiresAt)
        case .refused(let refusal): response(to: refusal)
        }
    }

    private static func response(to challenge: DeviceKeyChallenge) -> RenderedResponse {
        .made([
            ("challenge", .secret(challenge.token.text)),
            ("expires_at", .text(challenge.expiresAt.text)),
            ("expires_ms", .number(challenge.expiresAt.milliseconds)),
        ])
    }

    private static func response(to outcome: DeviceKeyRegistration) -> RenderedResponse {
        switch outcome {
        case .accepted(let credential, let custody):
            .made([
                ("credential", .text(credential.text)), ("state", .text("active")),
                ("custody", .text(custody.rawValue)),
            ])
        case .pending(let credential, let activation, let expiresAt):
            .made([
                ("credential", .text(credential.text)), ("state", .text("pending")),
                (
                    "activation",
                    .object([
                        ("blob", .text(Base64URL.encode(activation.blob.span))),
                        ("seed", .text(Base64URL.encode(activation.seed.span))),
                    ])
                ), ("expires_at", .text(expiresAt.text)),
            ])
        case .repeated(let credential, let custody):
            RenderedResponse(.registeredKey(credential: credential.text, custody: custody.rawValue))
        case .denied(.unknown), .denied(.expired): RenderedResponse(.refusedTicket)
        case .denied: RenderedResponse(.refusedKey)
        }
    }

    private static func response(toActivation outcome: DeviceKeyRegistration) -> RenderedResponse {
        switch outcome {
        case .accepted(_, let custody):
            .answered(
                [("result", .text("accepted")), ("custody", .text(custody.rawValue))],
                outcome: "accepted")
        case .pending, .repeated, .denied:
            .answered([("result", .text("denied"))], outcome: "denied")
        }
    }

    private static func response(to outcome: DeviceKeyOutcome) -> RenderedResponse {
        switch outcome.result {
        case .accepted(let login, let expiresAt):
            .answered(
                [
                    ("verification", .text(outcome.verification.text)),
                    ("result", .text("accepted")), ("login", .secret(login.text)),
                    ("expires_at", .text(expiresAt.text)),
                ], outcome: "accepted")
        case .denied(_, let wipe): denial(outcome.verification, wipe: wipe)
        }
    }

    /// The facts about the device and its key in a redeemed login.
    static func members(of key: DeviceKeyFacts) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [("purpose", .text(key.purpose.rawValue))]
        if let digest = key.textDigest {
            members.append(("text_sha256", .text(Base64URL.encode(digest.span))))
        }
        return members + [
            ("custody", .text(key.custody.rawValue)), ("presence", .text(key.presence.word)),
        ]
    }
}

extension RouteTable {
    static let deviceKeys = [
        Route(
            .post("challenges"), for: .scope(.verify),
            Operation(
                "createConfirmation",
                "Creates a challenge with which a device key confirms a text.",
                Service.createConfirmation),
            takes: .body(.one(.confirmationText)),
            responds: .made(
                .deviceChallenge, problems: [.tooManyLines, .notConfigured("audience")])),
        Route(
            .post("device", "keys"), for: .device,
            Operation(
                "registerDeviceKey", "Registers a device's public key with an enrolment ticket.",
                Service.registerDeviceKey),
            takes: .body(.one(.keyRegistration)),
            responds: .made(
                .registeredKey, .keyToActivate, problems: [.refusedTicket, .refusedKey])
        ),
        Route(
            .post("device", "keys", "activation"), for: .device,
            Operation(
                "activateDeviceKey", "Completes the registration of a key that a TPM attested.",
                Service.activateDeviceKey),
            takes: .body(.one(.keyActivation)),
            responds: .answered(.activatedKey, .refusedActivation)),
        Route(
            .post("device", "challenges"), for: .unprovenDevice,
            Operation(
                "createDeviceChallenge", "Creates a challenge with which a device key signs in.",
                Service.createDeviceChallenge),
            takes: .body(.one(.deviceChallengeRequest)),
            responds: .made(.deviceChallenge, problems: [.notConfigured("audience")])),
        Route(
            .post("device", "signatures"), for: .device,
            Operation(
                "verifyDeviceSignature",
                "Verifies a device key's signature, and spends its challenge.",
                Service.verifyDeviceSignature),
            takes: .body(.one(.deviceSignature)),
            responds: .answered(.signatureAcceptance, .loginDenial, .loginWipe)),
    ]
}

extension Field {
    fileprivate static let presence = FieldKind.choice(
        DeviceKeyTranscript.Presence.allCases.map(\.word))

    /// The device key's part of a redeemed login.
    static let signedInWithKey =
        ([
            .optional("purpose", .choice(DeviceKeyPurpose.allCases.map(\.rawValue))),
            .optional("text_sha256", .text(.base64URL)).noting("Only if a text was confirmed."),
            .optional("custody", .choice(KeyCustody.allCases.map(\.rawValue))),
            .optional("presence", presence),
        ] as [Field]).map { $0.note == nil ? $0.noting("Only for a device key.") : $0 }
}

extension Shape {
    /// The enrolment of a device key.
    static let keyEnrolment = Shape(
        "KeyEnrolment",
        [
            .required("type", .choice(["key"])), .label, .optional("presence", Field.presence),
            .optional("replaces", .text(.credential)), .redeemableBy,
        ])

    fileprivate static let confirmationText = Shape(
        "ConfirmationText",
        [
            .credential, .required("purpose", .choice([DeviceKeyPurpose.confirm.rawValue])),
            .required("text", .text(.shownText)),
        ])

    fileprivate static let keyRegistration = Shape(
        "KeyRegistration",
        [
            .ticket, .required("public_key", .text(.base64URL)),
            .required("signature", .text(.base64URL)), .required("presence", Field.presence),
            // The value is the device's claim.
            .optional(
                "custody", .choice([KeyCustody.vault.rawValue, KeyCustody.tpm.rawValue])),
            .optional("attestation", .object(attestation)), .label, .userAgent,
        ])

    /// The TPM's attestation of a key.
    fileprivate static let attestation = Shape(
        "KeyAttestation",
        [
            .required(
                "certificates",
                .list(.text(.certificate), counts: 1...KeyAttestation.mostCertificates)),
            .required("endorsement_key", .text(.structure)),
            .required("attestation_key", .text(.structure)),
            .required("device_key", .text(.structure)),
            .required("certification", .text(.structure)),
            .required("signature", .text(.base64URL)),
        ])

    fileprivate static let keyActivation = Shape(
        "KeyActivation", [.credential, .required("secret", .text(.base64URL))])

    fileprivate static let deviceChallengeRequest = Shape("DeviceChallengeRequest", [.credential])

    fileprivate static let deviceSignature = Shape(
        "DeviceSignature",
        [
            .credential, .required("challenge", .text(.deviceChallenge)),
            .required("audience", .text(.audience)),
            .required("purpose", .choice(DeviceKeyPurpose.allCases.map(\.rawValue))),
            .required("presence", Field.presence), .required("signature", .text(.base64URL)),
        ])
}

extension Shape {
    fileprivate static let deviceChallenge = Shape(
        "DeviceChallenge",
        [
            .required("challenge", .text(.deviceChallenge)), .expiry,
            // The device signs this number.
            .required("expires_ms", .whole(0...Int64.max)),
        ])

    fileprivate static let registeredKey = Shape(
        "RegisteredKey",
        [
            .credential, .required("state", .choice(["active"])),
            .required("custody", .choice(KeyCustody.allCases.map(\.rawValue))),
        ])

    fileprivate static let keyToActivate = Shape(
        "KeyToActivate",
        [
            .credential, .pending,
            .required(
                "activation",
                .object(
                    Shape(
                        "TPMCredential",
                        [
                            .required("blob", .text(.structure)),
                            .required("seed", .text(.structure)),
                        ]))), .expiry,
        ])

    fileprivate static let activatedKey = Shape(
        "ActivatedKey",
        [.accepted, .required("custody", .choice([KeyCustody.attestedTPM.rawValue]))])

    fileprivate static let refusedActivation = Shape("RefusedActivation", [.denied])

    fileprivate static let signatureAcceptance = Shape(
        "SignatureAcceptance", [.verification, .accepted, .login, .expiry])
}
