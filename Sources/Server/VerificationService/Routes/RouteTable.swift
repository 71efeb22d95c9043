/// Every route under `/v1`.
enum RouteTable {
    /// All routes, in the order of the documentation.
    static let all: [Route] =
        credentials + checks + passkeys + devices + deviceKeys + browsers + records

    static let subject = PathPart.parameter("subject", .subject)
    static let credential = PathPart.parameter("credential", .credential)

    static func path(_ parts: PathPart...) -> [PathPart] { [.word("v1")] + parts }

    private static let credentials: [Route] = [
        Route(
            operation: .enrol, method: .post,
            path: path(.word("subjects"), subject, .word("credentials")), access: .scope(.enrol),
            summary: "Enrols a credential: a key, recovery codes, a passkey, or a ticket.",
            body: .byType([
                ("totp", RequestShapes.timeBased), ("totp", RequestShapes.timeBasedImport),
                ("totp", RequestShapes.timeBasedShortKeyImport),
                ("hotp", RequestShapes.counterBased), ("hotp", RequestShapes.counterBasedImport),
                ("hotp", RequestShapes.counterBasedShortKeyImport),
                ("recovery", RequestShapes.recovery), ("secret", RequestShapes.enrolledSecret),
                ("passkey", RequestShapes.passkey),
                ("key", RequestShapes.deviceKey),
            ]),
            success: .made,
            answers: [
                ResponseShapes.oneTimePassword, ResponseShapes.imported,
                ResponseShapes.recoveryCodes, ResponseShapes.ticket,
                ResponseShapes.passkeyRegistration, ResponseShapes.passkeyTicket,
            ],
            problems: [
                .keyTooShort, .keyInUse, .tooManyCredentials, .unknownClient, .usedInFuture,
                .unknownCredential, .refusedByState, .weakPolicy, .notConfigured(""),
            ]),
        Route(
            operation: .listCredentials, method: .get,
            path: path(.word("subjects"), subject, .word("credentials")), access: .scope(.manage),
            summary: "Lists a subject's credentials, without secrets.",
            parameters: [("after", 0...Int64.max), ("limit", 1...1_000)], success: .answered,
            answers: [ResponseShapes.credentials]),
        Route(
            operation: .closeAccount, method: .delete, path: path(.word("subjects"), subject),
            access: .scope(.manage),
            summary: "Revokes all credentials of a subject and tells devices to wipe theirs.",
            success: .done),
        Route(
            operation: .renameCredential, method: .patch,
            path: path(.word("credentials"), credential), access: .scope(.manage),
            summary: "Renames a credential.", body: .one(RequestShapes.rename), success: .done,
            problems: [.unknownCredential, .refusedByState]),
        Route(
            operation: .revokeCredential, method: .delete,
            path: path(.word("credentials"), credential), access: .scope(.manage),
            summary: "Revokes a credential and deletes its secrets.", success: .done,
            problems: [.unknownCredential]),
        Route(
            operation: .confirmCredential, method: .post,
            path: path(.word("credentials"), credential, .word("confirm")),
            access: .scope(.enrol),
            summary: "Activates a credential with its first code, and spends the code.",
            body: .one(RequestShapes.confirmation), success: .answered,
            answers: [ResponseShapes.result], problems: [.unknownCredential]),
        Route(
            operation: .resynchronizeCredential, method: .post,
            path: path(.word("credentials"), credential, .word("resync")),
            access: .scope(.manage),
            summary: "Finds the counter or the clock drift from two consecutive codes.",
            body: .one(RequestShapes.resynchronization), success: .answered,
            answers: [ResponseShapes.result], problems: [.unknownCredential]),
        Route(
            operation: .unlockCredential, method: .post,
            path: path(.word("credentials"), credential, .word("unlock")),
            access: .scope(.manage),
            summary: "Ends a wait. Does not re-enable a disabled credential.", success: .done,
            problems: [.unknownCredential, .refusedByState]),
    ]

    private static let checks: [Route] = [
        Route(
            operation: .verify, method: .post, path: path(.word("verifications")),
            access: .scope(.verify), summary: "Verifies a code, and spends it if it is correct.",
            body: .one(RequestShapes.verification), success: .answered,
            answers: [ResponseShapes.acceptance, ResponseShapes.denial]),
        Route(
            operation: .redeemLogin, method: .post, path: path(.word("logins"), .word("redeem")),
            access: .scope(.verify),
            summary: "Redeems a login ticket, which is valid once, and returns who signed in.",
            body: .one(RequestShapes.loginRedemption), success: .answered,
            answers: [ResponseShapes.signedIn, ResponseShapes.refusal]),
    ]

    private static let devices: [Route] = [
        Route(
            operation: .redeemEnrolment, method: .post,
            path: path(.word("device"), .word("enrolments")), access: .device,
            summary: "Exchanges an enrolment ticket for the device's first secret.",
            body: .one(RequestShapes.ticketRedemption), success: .made,
            answers: [ResponseShapes.deviceSecret], problems: [.refusedTicket]),
        Route(
            operation: .signIn, method: .post, path: path(.word("device"), .word("logins")),
            access: .device,
            summary: "Exchanges an enrolled secret for a login ticket and the next secret.",
            body: .one(RequestShapes.login), success: .answered,
            answers: [
                ResponseShapes.loginAcceptance, ResponseShapes.loginDenial,
                ResponseShapes.loginWipe,
            ]),
    ]

    private static let records: [Route] = [
        Route(
            operation: .listEvents, method: .get, path: path(.word("events")),
            access: .scope(.audit), summary: "Lists events in order, after a position.",
            parameters: [("after", 0...Int64.max), ("limit", 1...1_000)], success: .answered,
            answers: [ResponseShapes.events]),
        Route(
            operation: .describeInterface, method: .get, path: path(.word("openapi.json")),
            access: .everybody, summary: "Returns this OpenAPI document.", success: .answered),
    ]
}

// The routes of passkeys.
extension RouteTable {
    /// For applications.
    static let passkeys: [Route] = [
        Route(
            operation: .registerPasskey, method: .post,
            path: path(.word("credentials"), credential, .word("registration")),
            access: .scope(.enrol),
            summary: "Activates a passkey with what the browser returned after it was created.",
            body: .one(RequestShapes.passkeyRegistration), success: .answered,
            answers: [ResponseShapes.registeredPasskey, ResponseShapes.passkeyDenial],
            problems: [.unknownCredential, .notConfigured("")]),
        Route(
            operation: .beginCeremony, method: .post, path: path(.word("ceremonies")),
            access: .scope(.verify), summary: "Begins a ceremony in which a passkey signs in.",
            body: .one(RequestShapes.ceremony), success: .made,
            answers: [ResponseShapes.ceremony], problems: [.weakPolicy, .notConfigured("")]),
        Route(
            operation: .verifyAssertion, method: .post, path: path(.word("assertions")),
            access: .scope(.verify),
            summary: "Verifies a passkey's signature, and ends the ceremony.",
            body: .one(RequestShapes.assertion), success: .answered,
            answers: [ResponseShapes.assertion, ResponseShapes.assertionDenial],
            problems: [.notConfigured("")]),
        Route(
            operation: .completeStepUp, method: .post,
            path: path(.word("credentials"), credential, .word("step-up")),
            access: .scope(.verify),
            summary: "Records that the application obtained the second proof of a step-up.",
            body: .one(RequestShapes.stepUp), success: .answered,
            answers: [ResponseShapes.result],
            problems: [.unknownCredential, .notConfigured("")]),
        Route(
            operation: .listAcceptedPasskeys, method: .get,
            path: path(.word("subjects"), subject, .word("passkeys"), .word("signal")),
            access: .scope(.manage),
            summary: "Lists a subject's passkeys for signalAllAcceptedCredentials.",
            parameters: [("rp", 0...255)], success: .answered,
            answers: [ResponseShapes.acceptedPasskeys],
            problems: [.refusedByState, .notConfigured("")]),
    ]

    /// For the server's own pages.
    static let browsers: [Route] = [
        Route(
            operation: .beginBrowserCeremony, method: .post,
            path: path(.word("browser"), .word("ceremonies")), access: .browser,
            summary: "Begins a ceremony on a page: to sign in, or with a ticket to enrol.",
            body: .one(RequestShapes.browserCeremony), success: .made,
            answers: [ResponseShapes.ceremony, ResponseShapes.invitation],
            problems: [.refusedTicket]),
        Route(
            operation: .registerInBrowser, method: .post,
            path: path(.word("browser"), .word("registrations")), access: .browser,
            summary: "Activates a passkey that a page created, and spends the ticket.",
            body: .one(RequestShapes.browserRegistration), success: .answered,
            answers: [ResponseShapes.registeredPasskey, ResponseShapes.passkeyDenial],
            problems: [.refusedTicket]),
        Route(
            operation: .verifyInBrowser, method: .post,
            path: path(.word("browser"), .word("assertions")), access: .browser,
            summary: "Verifies a passkey's signature on a page, and issues a login ticket.",
            body: .one(RequestShapes.browserAssertion), success: .answered,
            answers: [ResponseShapes.browserAssertion, ResponseShapes.assertionDenial]),
    ]
}

// The routes of device keys.
extension RouteTable {
    static let deviceKeys: [Route] = [
        Route(
            operation: .createConfirmation, method: .post, path: path(.word("challenges")),
            access: .scope(.verify), summary: "Creates a text for a device key to sign.",
            body: .one(RequestShapes.confirmationText), success: .made,
            answers: [ResponseShapes.deviceChallenge], problems: [.tooManyLines]),
        Route(
            operation: .registerDeviceKey, method: .post,
            path: path(.word("device"), .word("keys")), access: .device,
            summary: "Registers a device's public key with an enrolment ticket.",
            body: .one(RequestShapes.keyRegistration), success: .made,
            answers: [ResponseShapes.registeredKey, ResponseShapes.keyToActivate],
            problems: [.refusedTicket, .refusedKey]),
        Route(
            operation: .activateDeviceKey, method: .post,
            path: path(.word("device"), .word("keys"), .word("activation")), access: .device,
            summary: "Completes the registration of a key that a TPM attested.",
            body: .one(RequestShapes.keyActivation), success: .answered,
            answers: [ResponseShapes.activatedKey, ResponseShapes.refusedActivation]),
        Route(
            operation: .createDeviceChallenge, method: .post,
            path: path(.word("device"), .word("challenges")), access: .device,
            summary: "Creates a challenge with which a device key signs in.",
            body: .one(RequestShapes.deviceChallenge), success: .made,
            answers: [ResponseShapes.deviceChallenge]),
        Route(
            operation: .verifyDeviceSignature, method: .post,
            path: path(.word("device"), .word("signatures")), access: .device,
            summary: "Verifies a device key's signature, and spends its challenge.",
            body: .one(RequestShapes.deviceSignature), success: .answered,
            answers: [
                ResponseShapes.signatureAcceptance, ResponseShapes.loginDenial,
                ResponseShapes.loginWipe,
            ]),
    ]
}
