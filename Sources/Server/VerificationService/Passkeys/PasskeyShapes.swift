internal import PasskeyVerification
internal import Verification

// The fields and shapes that the routes for applications and those for browsers share.
extension Field {
    /// The object that `toJSON()` returns after `navigator.credentials.create` (WebAuthn Level 3,
    /// section 5.1).
    static let created = response(
        "Created",
        [
            .required("clientDataJSON", .text(.any)),
            .required("attestationObject", .text(.any)),
            .optional("transports", .list(.text(.any), counts: 0...64)),
        ])

    /// The object that `toJSON()` returns after `navigator.credentials.get`.
    static let signed = response(
        "Signed",
        [
            .required("clientDataJSON", .text(.any)),
            .required("authenticatorData", .text(.any)), .required("signature", .text(.any)),
            // `userHandle`, which may be null, is checked when the object is read.
        ])

    fileprivate static func response(_ word: String, _ fields: [Field]) -> Field {
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

    static let ceremony = required("ceremony", .text(.ceremony))
    static let acceptedOrStepUp = required("result", .choice(["accepted", "step-up"]))
    static let userVerified = required("user_verified", .flag)
    static let deviceBound = required("device_bound", .flag)
    static let backedUp = required("backed_up", .flag)
    fileprivate static let attestation = FieldKind.choice(["none", "self", "unverified", "trusted"])
    fileprivate static let reason = optional(
        "reason", .choice(DenialReason.ofCeremonies.map(\.ceremonyName))
    ).noting("Only with the scope `reasons`.")

    /// The reasons for a second proof; empty if the signature needs none.
    static let stepUpReasons = required(
        "step_up", .list(.choice(StepUpReason.allCases.map(\.rawValue)), counts: 0...8))
    /// The token of a browser in which the passkey had not been used before.
    static let newDevice = device.noting(
        "Only for a browser whose `device` the passkey does not know.")
    fileprivate static let authenticator = optional("authenticator", .text(.any)).noting(
        "The model; absent if it is unknown.")

    /// A passkey that the browser should no longer offer.
    fileprivate static let signal = optional(
        "signal",
        .object(
            Shape(
                "UnknownPasskey",
                [.required("rpId", .text(.any)), .required("credentialId", .text(.any))]))
    ).noting("Only if the browser should no longer offer the passkey.")

    /// The passkey's part of a list of credentials.
    static let listedPasskey =
        ([
            .optional("device_bound", .flag), .optional("backed_up", .flag),
            .optional("user_verified", .flag), .optional("attestation", attestation), authenticator,
            .optional("transports", .list(.text(.any), counts: 0...8)),
        ] as [Field]).map { $0.note == nil ? $0.noting("Only for an active passkey.") : $0 }

    /// The passkey's part of a redeemed login.
    static let signedInWithPasskey: [Field] = [
        .optional("user_verified", .flag).noting("Only for a passkey."),
        .optional("step_up", stepUpReasons.kind).noting(
            "Only for a passkey: why a second proof is needed; empty if none is."),
    ]
}

extension Shape {
    static let registeredPasskey = Shape(
        "RegisteredPasskey",
        [
            .accepted, .deviceBound, .backedUp, .userVerified,
            .required("attestation", Field.attestation), .authenticator,
            .required("only_credential", .flag),
        ])

    static let passkeyDenial = Shape(
        "PasskeyDenial", [.denied, .reason, .required("retry", .flag), .signal])

    static let openCeremony = Shape(
        "OpenCeremony", [.ceremony, .required("options", .object(requestOptions)), .expiry])

    static let assertionDenial = Shape(
        "AssertionDenial", [.verification, .denied, .reason, .signal])
}

// The options of WebAuthn's JSON (Level 3, section 5.1).
extension Field {
    fileprivate static let challenge = required("challenge", .text(.any))
    fileprivate static let timeout = required("timeout", .whole(0...Int64(Int32.max)))
    fileprivate static let verificationWord = required(
        "userVerification", .choice(PasskeyPolicy.UserVerification.allCases.map(\.rawValue)))
}

extension Shape {
    fileprivate static let descriptor = Shape(
        "PasskeyDescriptor",
        [
            .required("type", .choice(["public-key"])), .required("id", .text(.any)),
            .required("transports", .list(.text(.any), counts: 0...8)),
        ])

    static let creationOptions = Shape(
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
            .challenge,
            .required(
                "pubKeyCredParams",
                .list(
                    .object(
                        Shape(
                            "PasskeyAlgorithm",
                            [
                                .required("type", .choice(["public-key"])),
                                .required("alg", .whole(-65_536...65_536)),
                            ])), counts: 1...8)), .timeout,
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
                            .required("requireResidentKey", .flag), .verificationWord,
                        ]))),
            .required("attestation", .choice(["none", "direct"])),
        ])

    static let requestOptions = Shape(
        "RequestOptions",
        [
            .challenge, .required("rpId", .text(.any)),
            .required("allowCredentials", .list(.object(descriptor), counts: 0...Int.max)),
            .timeout, .verificationWord,
        ])
}
