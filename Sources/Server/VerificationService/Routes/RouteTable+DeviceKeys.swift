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
