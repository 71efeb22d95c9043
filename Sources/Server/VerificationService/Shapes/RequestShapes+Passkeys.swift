internal import PasskeyVerification

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
