internal import Verification
internal import WatchwordCryptography

/// The shapes of successful responses.
enum ResponseShapes {
    private static let accepted = Field.required("result", .choice(["accepted"]))
    private static let denied = Field.required("result", .choice(["denied"]))
    private static let verification = Field.required("verification", .text(.verification))
    private static let credential = Field.required("credential", .text(.credential))
    private static let pending = Field.required("state", .choice(["pending"]))
    private static let expiry = Field.required("expires_at", .text(.time))
    private static let generation = Field.required("generation", .whole(0...Int64.max))
    private static let secret = Field.required("secret", .text(.secret))

    static let oneTimePassword = Shape(
        "HandedOutKey",
        [
            credential, pending, .required("uri", .text(.keyURI)),
            .required("qr_png", .text(.base64)), expiry,
        ])

    static let imported = Shape(
        "ImportedKey",
        [
            credential, .required("state", .choice(["active", "pending"])),
            .optional("expires_at", .text(.time)),
        ])

    static let recoveryCodes = Shape(
        "RecoveryCodes", [credential, .required("codes", .list(.text(.code), counts: 10...10))])

    static let ticket = Shape(
        "EnrolmentTicket",
        [credential, pending, .required("ticket", .text(.enrolmentTicket)), expiry])

    static let result = Shape(
        "Result", [.required("result", .choice(["accepted", "denied"]))])

    static let acceptance = Shape(
        "Acceptance",
        [
            verification, accepted, credential,
            .required("type", .choice(["totp", "hotp", "recovery"])),
            .required("offset", .whole(Int64.min...Int64.max)),
            .optional("remaining", .whole(0...10)), newDevice,
        ])

    static let denial = Shape(
        "Denial",
        [
            verification, denied,
            .optional(
                "reason",
                .choice(["wrong", "replayed", "throttled", "disabled", "unknown"])),
            .optional("retry_after_ms", .whole(0...Int64.max)),
        ])

    static let signedIn = Shape(
        "SignedIn",
        [
            // Only a passkey's login can need a step-up.
            .required("result", .choice(["accepted", "step-up"])),
            .required("subject", .text(.subject)), credential,
            .required("type", .choice(CredentialKind.signingIn.map(\.rawValue))), verification,
            .required("verified_at", .text(.time)),
        ] + signedInWithPasskey + signedInWithKey)

    static let refusal = Shape("Refusal", [denied])

    static let deviceSecret = Shape("DeviceSecret", [credential, secret, generation])

    static let loginAcceptance = Shape(
        "LoginAcceptance",
        [
            verification, accepted, .required("login", .text(.loginTicket)), expiry, secret,
            generation,
        ])

    static let loginDenial = Shape(
        "LoginDenial", [verification, denied, .required("wipe", .exactly(false))])

    static let loginWipe = Shape(
        "LoginWipe",
        [
            verification, denied, .required("wipe", .exactly(true)),
            .required("wipe_reason", .choice(WipeReason.allCases.map(\.rawValue))),
        ])

    static let credentials = Shape(
        "Credentials",
        [
            .required(
                "credentials",
                .list(
                    .object(
                        Shape(
                            "Credential",
                            [
                                credential,
                                .required("type", .choice(CredentialKind.allCases.map(\.rawValue))),
                                .required(
                                    "state", .choice(CredentialState.allCases.map(\.rawValue))),
                                .optional("name", .text(.any)),
                                .required("created_at", .text(.time)),
                                .optional("expires_at", .text(.time)),
                                .optional("confirmed_at", .text(.time)),
                                .optional("last_used_at", .text(.time)),
                                .optional("ended_at", .text(.time)),
                                .optional("waits_until", .text(.time)),
                                .optional("end_reason", .text(.any)),
                                .optional("user_agent", .text(.any)),
                                .optional("failures", .whole(0...Int64.max)),
                                .optional("remaining", .whole(0...10)),
                                .optional("short_key", .exactly(true)),
                            ] + listedPasskey)), counts: 0...Int.max)),
            .optional("next", .whole(0...Int64.max)),
        ])

    static let events = Shape(
        "Events",
        [
            .required(
                "events",
                .list(
                    .object(
                        Shape(
                            "Event",
                            [
                                .required("position", .whole(0...Int64.max)),
                                .required("time", .text(.time)),
                                .required("kind", .choice(Event.Kind.allCases.map(\.rawValue))),
                                .optional(
                                    "reason", .choice(Event.Reason.allCases.map(\.rawValue))),
                                .optional("subject", .text(.subject)),
                                .optional("credential", .text(.credential)),
                                .optional("verification", .text(.verification)),
                                .optional("client", .text(.client)),
                                .optional("address", .text(.any)),
                                .optional("user_agent", .text(.any)),
                                .optional("number", .whole(Int64.min...Int64.max)),
                                .required("notify", .flag),
                            ])), counts: 0...1_000)),
            .required("last", .whole(0...Int64.max)),
        ])
}

extension CredentialKind {
    /// The kinds of credentials whose holders sign in by themselves, and get a login ticket.
    fileprivate static let signingIn: [CredentialKind] = [.secret, .passkey, .key]
}

// The shapes of the responses about device keys.
extension ResponseShapes {
    static let deviceChallenge = Shape(
        "DeviceChallenge",
        [
            .required("challenge", .text(.deviceChallenge)), .required("expires_at", .text(.time)),
            // The number that the device signs.
            .required("expires_ms", .whole(0...Int64.max)),
        ])

    static let registeredKey = Shape(
        "RegisteredKey",
        [
            .required("credential", .text(.credential)), .required("state", .choice(["active"])),
            .required("custody", .choice(KeyCustody.allCases.map(\.rawValue))),
        ])

    static let keyToActivate = Shape(
        "KeyToActivate",
        [
            .required("credential", .text(.credential)), .required("state", .choice(["pending"])),
            .required(
                "activation",
                .object(
                    Shape(
                        "TPMCredential",
                        [
                            .required("blob", .text(.structure)),
                            .required("seed", .text(.structure)),
                        ]))),
            .required("expires_at", .text(.time)),
        ])

    static let activatedKey = Shape(
        "ActivatedKey",
        [
            .required("result", .choice(["accepted"])),
            .required("custody", .choice([KeyCustody.attestedTPM.rawValue])),
        ])

    static let refusedActivation = Shape(
        "RefusedActivation", [.required("result", .choice(["denied"]))])

    static let signatureAcceptance = Shape(
        "SignatureAcceptance",
        [
            .required("verification", .text(.verification)),
            .required("result", .choice(["accepted"])),
            .required("login", .text(.loginTicket)), .required("expires_at", .text(.time)),
        ])

    /// What a redeemed login says about a device key.
    static let signedInWithKey: [Field] = [
        .optional("purpose", .choice(DeviceKeyPurpose.allCases.map(\.rawValue))),
        .optional("text_sha256", .text(.base64URL)),
        .optional("custody", .choice(KeyCustody.allCases.map(\.rawValue))),
        .optional("presence", .choice(DeviceKeyTranscript.Presence.allCases.map(\.word))),
    ]
}
