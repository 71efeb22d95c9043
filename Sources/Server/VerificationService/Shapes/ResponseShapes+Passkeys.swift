internal import PasskeyVerification
internal import Verification

// The shapes of the responses about passkeys.
extension ResponseShapes {
    private static let credential = Field.required("credential", .text(.credential))
    private static let expiry = Field.required("expires_at", .text(.time))
    private static let pending = Field.required("state", .choice(["pending"]))
    private static let verification = Field.required("verification", .text(.verification))
    private static let denied = Field.required("result", .choice(["denied"]))
    private static let signed = Field.required("result", .choice(["accepted", "step-up"]))
    private static let userVerified = Field.required("user_verified", .flag)
    private static let deviceBound = Field.required("device_bound", .flag)
    private static let backedUp = Field.required("backed_up", .flag)
    private static let attestation = FieldKind.choice(["none", "self", "unverified", "trusted"])
    static let newDevice = Field.optional("device", .text(.knownDevice))
    private static let reason = Field.optional(
        "reason", .choice(DenialReason.allCases.map(\.rawValue)))

    /// Why a passkey's signature needs a second proof.
    static let stepUpReasons = Field.optional(
        "step_up", .list(.choice(StepUpReason.allCases.map(\.rawValue)), counts: 1...8))

    static let passkeyRegistration = Shape(
        "PasskeyRegistration",
        [credential, pending, .required("options", .object(creationOptions)), expiry])

    static let passkeyTicket = Shape(
        "PasskeyTicket",
        [
            credential, pending, .required("ticket", .text(.enrolmentTicket)),
            .required("link", .text(.any)), expiry,
        ])

    static let registeredPasskey = Shape(
        "RegisteredPasskey",
        [
            .required("result", .choice(["accepted"])), deviceBound, backedUp, userVerified,
            .required("attestation", attestation), .optional("authenticator", .text(.any)),
            .required("only_credential", .flag),
        ])

    static let passkeyDenial = Shape(
        "PasskeyDenial", [denied, reason, .required("retry", .flag), signal])

    /// A passkey that the browser should no longer offer.
    private static let signal = Field.optional(
        "signal",
        .object(
            Shape(
                "UnknownPasskey",
                [.required("rpId", .text(.any)), .required("credentialId", .text(.any))])))

    static let ceremony = Shape(
        "OpenCeremony",
        [
            .required("ceremony", .text(.ceremony)),
            .required("options", .object(requestOptions)), expiry,
        ])

    static let invitation = Shape(
        "Invitation", [.required("options", .object(creationOptions)), expiry])

    static let assertion = Shape(
        "Assertion",
        [
            verification, signed, credential, .required("type", .choice(["passkey"])),
            .required("subject", .text(.subject)), userVerified, deviceBound, backedUp,
            .required("sign_count", .choice(CounterFinding.allCases.map(\.rawValue))),
            stepUpReasons, newDevice,
        ])

    static let browserAssertion = Shape(
        "BrowserAcceptance",
        [
            verification, signed, .required("login", .text(.loginTicket)), expiry, newDevice,
        ])

    static let assertionDenial = Shape(
        "AssertionDenial",
        [
            verification, denied, reason, signal,
        ])

    static let acceptedPasskeys = Shape(
        "AcceptedPasskeys",
        [
            .required("rpId", .text(.any)), .required("userId", .text(.any)),
            .required("allAcceptedCredentialIds", .list(.text(.any), counts: 0...Int.max)),
        ])

    /// What the list of credentials says about a passkey.
    static let listedPasskey: [Field] = [
        .optional("device_bound", .flag), .optional("backed_up", .flag),
        .optional("user_verified", .flag), .optional("attestation", attestation),
        .optional("authenticator", .text(.any)),
        .optional("transports", .list(.text(.any), counts: 0...8)),
    ]

    /// What a redeemed login says about a passkey's signature.
    static let signedInWithPasskey: [Field] = [.optional("user_verified", .flag), stepUpReasons]
}

// The options of WebAuthn's JSON (Level 3, section 5.1).
extension ResponseShapes {
    private static let challenge = Field.required("challenge", .text(.any))
    private static let timeout = Field.required("timeout", .whole(0...Int64(Int32.max)))
    private static let verificationWord = Field.required(
        "userVerification", .choice(PasskeyPolicy.UserVerification.allCases.map(\.rawValue)))
    private static let descriptor = Shape(
        "PasskeyDescriptor",
        [
            .required("type", .choice(["public-key"])), .required("id", .text(.any)),
            .required("transports", .list(.text(.any), counts: 0...8)),
        ])

    private static let creationOptions = Shape(
        "CreationOptions",
        [
            .required(
                "rp",
                .object(
                    Shape(
                        "RelyingParty",
                        [.required("id", .text(.any)), .required("name", .text(.any))]))),
            .required(
                "user",
                .object(
                    Shape(
                        "PasskeyUser",
                        [
                            .required("id", .text(.any)), .required("name", .text(.any)),
                            .required("displayName", .text(.any)),
                        ]))),
            challenge,
            .required(
                "pubKeyCredParams",
                .list(
                    .object(
                        Shape(
                            "PasskeyAlgorithm",
                            [
                                .required("type", .choice(["public-key"])),
                                .required("alg", .whole(-65_536...65_536)),
                            ])), counts: 1...8)), timeout,
            .required("excludeCredentials", .list(.object(descriptor), counts: 0...Int.max)),
            .required(
                "authenticatorSelection",
                .object(
                    Shape(
                        "AuthenticatorSelection",
                        [
                            .required(
                                "residentKey",
                                .choice(PasskeyPolicy.Discoverable.allCases.map(\.rawValue))),
                            .required("requireResidentKey", .flag), verificationWord,
                        ]))),
            .required("attestation", .choice(["none", "direct"])),
        ])

    private static let requestOptions = Shape(
        "RequestOptions",
        [
            challenge, .required("rpId", .text(.any)),
            .required("allowCredentials", .list(.object(descriptor), counts: 0...Int.max)),
            timeout, verificationWord,
        ])
}
