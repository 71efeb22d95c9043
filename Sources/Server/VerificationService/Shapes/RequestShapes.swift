internal import Verification

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
