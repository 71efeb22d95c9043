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
