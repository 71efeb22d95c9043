/// Every route under `/v1`.
enum RouteTable {
    /// All of them, in the order of the documentation.
    static let all: [Route] = credentials + checks + devices + records

    private static let subject = PathPart.parameter("subject", .subject)
    private static let credential = PathPart.parameter("credential", .credential)

    private static func path(_ parts: PathPart...) -> [PathPart] { [.word("v1")] + parts }

    private static let credentials: [Route] = [
        Route(
            operation: .enrol, method: .post,
            path: path(.word("subjects"), subject, .word("credentials")), access: .scope(.enrol),
            summary: "Hands out a new credential: a key, recovery codes, or a ticket for a device.",
            body: .byType([
                ("totp", RequestShapes.timeBased), ("hotp", RequestShapes.counterBased),
                ("recovery", RequestShapes.recovery), ("secret", RequestShapes.enrolledSecret),
            ]),
            success: .made,
            answers: [
                AnswerShapes.oneTimePassword, AnswerShapes.recoveryCodes, AnswerShapes.ticket,
            ],
            problems: [.keyTooShort, .keyInUse, .tooManyCredentials, .unknownClient]),
        Route(
            operation: .listCredentials, method: .get,
            path: path(.word("subjects"), subject, .word("credentials")), access: .scope(.manage),
            summary: "Lists a subject's credentials, without secrets.", success: .answered,
            answers: [AnswerShapes.credentials]),
        Route(
            operation: .closeAccount, method: .delete, path: path(.word("subjects"), subject),
            access: .scope(.manage),
            summary: "Revokes all of a subject's credentials; devices are told to wipe theirs.",
            success: .done),
        Route(
            operation: .renameCredential, method: .patch,
            path: path(.word("credentials"), credential), access: .scope(.manage),
            summary: "Renames a credential.", body: .one(RequestShapes.rename), success: .done,
            problems: [.unknownCredential, .refusedByState]),
        Route(
            operation: .revokeCredential, method: .delete,
            path: path(.word("credentials"), credential), access: .scope(.manage),
            summary: "Revokes a credential at once, and deletes its secrets.", success: .done,
            problems: [.unknownCredential]),
        Route(
            operation: .confirmCredential, method: .post,
            path: path(.word("credentials"), credential, .word("confirm")),
            access: .scope(.enrol),
            summary: "Puts a credential into use with its first code, which is spent by that.",
            body: .one(RequestShapes.confirmation), success: .answered,
            answers: [AnswerShapes.result], problems: [.unknownCredential]),
        Route(
            operation: .resynchronizeCredential, method: .post,
            path: path(.word("credentials"), credential, .word("resync")),
            access: .scope(.manage),
            summary: "Finds the counter or the drift again by two consecutive codes.",
            body: .one(RequestShapes.resynchronization), success: .answered,
            answers: [AnswerShapes.result], problems: [.unknownCredential]),
        Route(
            operation: .unlockCredential, method: .post,
            path: path(.word("credentials"), credential, .word("unlock")),
            access: .scope(.manage),
            summary: "Lifts a wait; never a disablement.", success: .done,
            problems: [.unknownCredential, .refusedByState]),
    ]

    private static let checks: [Route] = [
        Route(
            operation: .verify, method: .post, path: path(.word("verifications")),
            access: .scope(.verify), summary: "Checks a code, and spends it when it is right.",
            body: .one(RequestShapes.verification), success: .answered,
            answers: [AnswerShapes.acceptance, AnswerShapes.denial]),
        Route(
            operation: .redeemLogin, method: .post, path: path(.word("logins"), .word("redeem")),
            access: .scope(.verify),
            summary: "Tells the clients that it is for who signed in, once for each login ticket.",
            body: .one(RequestShapes.loginRedemption), success: .answered,
            answers: [AnswerShapes.signedIn, AnswerShapes.refusal]),
    ]

    private static let devices: [Route] = [
        Route(
            operation: .redeemEnrolment, method: .post,
            path: path(.word("device"), .word("enrolments")), access: .device,
            summary: "Hands a device its secret for an enrolment ticket.",
            body: .one(RequestShapes.ticketRedemption), success: .made,
            answers: [AnswerShapes.deviceSecret], problems: [.refusedTicket]),
        Route(
            operation: .signIn, method: .post, path: path(.word("device"), .word("logins")),
            access: .device,
            summary: "Takes an enrolled secret and hands out a login ticket and the next secret.",
            body: .one(RequestShapes.login), success: .answered,
            answers: [
                AnswerShapes.loginAcceptance, AnswerShapes.loginDenial, AnswerShapes.loginWipe,
            ]),
    ]

    private static let records: [Route] = [
        Route(
            operation: .listEvents, method: .get, path: path(.word("events")),
            access: .scope(.audit), summary: "Lists events in their order, from behind a position.",
            parameters: [("after", 0...Int64.max), ("limit", 1...1_000)], success: .answered,
            answers: [AnswerShapes.events]),
        Route(
            operation: .describeInterface, method: .get, path: path(.word("openapi.json")),
            access: .everybody, summary: "Describes this interface.", success: .answered),
    ]
}
