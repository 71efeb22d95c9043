internal import Verification
internal import WatchwordCryptography

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
