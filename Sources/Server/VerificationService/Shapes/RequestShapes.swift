internal import PasskeyVerification
internal import Verification
internal import WatchwordCryptography

/// The shapes of request bodies.
enum RequestShapes {
    private static let labels: [Field] = [
        .required("issuer", .text(.label)), .required("account", .text(.label)),
    ]
    private static let codeFields: [Field] = [
        .optional("algorithm", .choice(["SHA1", "SHA256", "SHA512"])),
        .optional("digits", .whole(6...8)), .optional("name", .text(.label)),
    ]
    private static let key = Field.optional("key", .text(.key))
    // At most two minutes (NIST SP 800-63B-4, section 3.1.4.1).
    private static let period = Field.optional("period", .whole(1...120))

    static let timeBased = Shape(
        "TimeBasedEnrolment",
        [.required("type", .choice(["totp"]))] + labels + [period, key] + codeFields)

    static let counterBased = Shape(
        "CounterBasedEnrolment",
        [.required("type", .choice(["hotp"]))] + labels + [key] + codeFields)

    static let timeBasedImport = Shape(
        "TimeBasedImport", timeBasedImportFields(.text(.importedKey)))

    static let timeBasedShortKeyImport = Shape(
        "TimeBasedShortKeyImport", timeBasedImportFields(.text(.shortKey)) + [shortKeys])

    static let counterBasedImport = Shape(
        "CounterBasedImport", counterBasedImportFields(.text(.importedKey)))

    static let counterBasedShortKeyImport = Shape(
        "CounterBasedShortKeyImport", counterBasedImportFields(.text(.shortKey)) + [shortKeys])

    private static let shortKeys = Field.required("allow_short_key", .exactly(true))
        .requiring(.import)

    private static func timeBasedImportFields(_ key: FieldKind) -> [Field] {
        [.required("type", .choice(["totp"])), .required("key", key), period]
            + [.optional("last_used_step", .whole(0...Int64.max)).requiring(.import)]
            + importFields
    }

    private static func counterBasedImportFields(_ key: FieldKind) -> [Field] {
        [.required("type", .choice(["hotp"])), .required("key", key)]
            // The counter of the next code.
            + [.optional("counter", .whole(0...Int64.max)).requiring(.import)]
            + importFields
    }

    // An import returns no key URI, so it needs no labels.
    private static let importFields: [Field] =
        [
            .optional("confirmed", .flag).requiring(.import),
            .optional("issuer", .text(.label)), .optional("account", .text(.label)),
        ] + codeFields

    static let recovery = Shape(
        "RecoveryEnrolment",
        [.required("type", .choice(["recovery"]))])

    static let enrolledSecret = Shape(
        "SecretEnrolment",
        [
            .required("type", .choice(["secret"])), .optional("name", .text(.label)),
            redeemableBy,
        ])

    /// The clients that may redeem the device's logins, in addition to the enrolling one.
    static let redeemableBy = Field.optional(
        "redeemable_by", .list(.text(.client), counts: 1...(Policy.maximumAudience - 1)))

    static let rename = Shape("Rename", [.required("name", .text(.label))])

    static let confirmation = Shape(
        "Confirmation", [.required("code", .text(.oneTimePassword))])

    static let resynchronization = Shape(
        "Resynchronization",
        [.required("codes", .list(.text(.oneTimePassword), counts: 2...2))])

    static let device = Field.optional("device", .text(.knownDevice))

    static let verification = Shape(
        "Verification",
        [
            .required("subject", .text(.subject)), .required("code", .text(.code)),
            .optional("credential", .text(.credential)),
            // RFC 4226, appendix E.4.
            .optional("counter", .whole(0...Int64.max)),
            device, .optional("remember", .flag),
        ])

    static let loginRedemption = Shape(
        "LoginRedemption", [.required("login", .text(.loginTicket))])

    static let ticketRedemption = Shape(
        "TicketRedemption",
        [
            .required("ticket", .text(.enrolmentTicket)), .optional("name", .text(.label)),
            .optional("user_agent", .text(.userAgent)),
        ])

    static let login = Shape(
        "Login",
        [
            .required("credential", .text(.credential)), .required("secret", .text(.secret)),
            .required("rotation_nonce", .text(.nonce)),
        ])
}

// The shapes of the requests about passkeys.
extension RequestShapes {
    private static let policy = Field.optional(
        "policy",
        .object(
            Shape(
                "PasskeyPolicy",
                PolicyMember.allCases.map { .optional($0.rawValue, .choice($0.values)) })))

    private static let name = Field.optional("name", .text(.label))
    // The browser's, because the request comes from the application.
    private static let userAgent = Field.optional("user_agent", .text(.userAgent))
    private static let ticket = FieldKind.text(.enrolmentTicket)

    static let passkey = Shape(
        "PasskeyEnrolment",
        [
            .required("type", .choice(["passkey"])), .required("user_name", .text(.label)),
            .optional("user_display_name", .text(.label)), name, policy,
            .optional("replaces", .text(.credential)), .optional("via", .choice(["page"])),
        ])

    static let ceremony = Shape(
        "Ceremony",
        [
            .required("type", .choice(["passkey"])), .optional("subject", .text(.subject)),
            policy, .optional("conditional", .flag), .optional("rp_id", .text(.any)),
        ])

    static let passkeyRegistration = Shape(
        "PasskeyRegistrationResponse", [created, name, userAgent])

    static let assertion = Shape(
        "AssertionResponse",
        [.required("ceremony", .text(.ceremony)), signed, device, userAgent])

    static let stepUp = Shape("StepUp", [.required("verification", .text(.verification))])

    static let browserCeremony = Shape(
        "BrowserCeremony", [Field(name: "ticket", kind: ticket, isRequired: false)])

    static let browserRegistration = Shape(
        "BrowserRegistration", [.required("ticket", ticket), created, name])

    static let browserAssertion = Shape(
        "BrowserAssertion", [.required("ceremony", .text(.ceremony)), signed, device])

    /// What `toJSON()` returns after `navigator.credentials.create` (WebAuthn Level 3, section 5.1).
    private static let created = response(
        "Created",
        [
            .required("clientDataJSON", .text(.any)),
            .required("attestationObject", .text(.any)),
            .optional("transports", .list(.text(.any), counts: 0...64)),
        ])

    /// What `toJSON()` returns after `navigator.credentials.get`.
    private static let signed = response(
        "Signed",
        [
            .required("clientDataJSON", .text(.any)),
            .required("authenticatorData", .text(.any)), .required("signature", .text(.any)),
            // `userHandle`, which may be null, is checked when the object is read.
        ])

    private static func response(_ word: String, _ fields: [Field]) -> Field {
        .required(
            "response",
            .object(
                Shape(
                    "\(word)Passkey",
                    [
                        .required("id", .text(.any)), .required("rawId", .text(.any)),
                        .required("type", .choice(["public-key"])),
                        .required(
                            "response", .object(Shape("\(word)Data", fields, isOpen: true))),
                    ], isOpen: true)))
    }
}

// The shapes of the requests about device keys.
extension RequestShapes {
    private static let presence = FieldKind.choice(
        DeviceKeyTranscript.Presence.allCases.map(\.word))

    static let deviceKey = Shape(
        "KeyEnrolment",
        [
            .required("type", .choice(["key"])), .optional("name", .text(.label)),
            .optional("presence", presence), .optional("replaces", .text(.credential)),
            redeemableBy,
        ])

    static let confirmationText = Shape(
        "ConfirmationText",
        [
            .required("credential", .text(.credential)),
            .required("purpose", .choice([DeviceKeyPurpose.confirm.rawValue])),
            .required("text", .text(.shownText)),
        ])

    static let keyRegistration = Shape(
        "KeyRegistration",
        [
            .required("ticket", .text(.enrolmentTicket)),
            .required("public_key", .text(.base64URL)),
            .required("signature", .text(.base64URL)), .required("presence", presence),
            // The device's own claim.
            .optional(
                "custody", .choice([KeyCustody.vault.rawValue, KeyCustody.tpm.rawValue])),
            .optional("attestation", .object(attestation)),
            .optional("name", .text(.label)), .optional("user_agent", .text(.userAgent)),
        ])

    /// What a TPM says about a key.
    private static let attestation = Shape(
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

    static let keyActivation = Shape(
        "KeyActivation",
        [.required("credential", .text(.credential)), .required("secret", .text(.base64URL))])

    static let deviceChallenge = Shape(
        "DeviceChallengeRequest", [.required("credential", .text(.credential))])

    static let deviceSignature = Shape(
        "DeviceSignature",
        [
            .required("credential", .text(.credential)),
            .required("challenge", .text(.deviceChallenge)),
            .required("audience", .text(.audience)),
            .required("purpose", .choice(DeviceKeyPurpose.allCases.map(\.rawValue))),
            .required("presence", presence), .required("signature", .text(.base64URL)),
        ])
}
