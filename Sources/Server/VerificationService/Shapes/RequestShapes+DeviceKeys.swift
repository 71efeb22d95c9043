internal import Verification
internal import WatchwordCryptography

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
