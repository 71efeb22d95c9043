@testable import Courier
@testable import DeviceLogin
@testable import Devices
@testable import Exports
import OneTimePassword
@testable import SecretVault
@testable import VaultService
import WatchwordCryptography
@testable import WatchwordSystem

/// Messages and stored forms from which the fuzzer starts.
///
/// The code that is fuzzed encodes them, so they stay valid when an encoding changes.
func messageSeeds() throws -> [(target: FuzzTarget, bytes: [UInt8])] {
    try exportAnswers().map { (.answer, $0) } + agentMessages().map { (.transfer, $0) }
        + tokenMessages().map { (.token, $0) } + courierMessages().map { (.courier, $0) }
        + deviceKeys().map { (.devicekey, $0) }
}

private struct InvalidSeed: Error {}

private let secret = SecretBytes(copying: [UInt8](repeating: 7, count: 32).span)
private let pin = SecretBytes(copying: Array("2580".utf8).span)

/// The value, which must exist.
private func valid<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw InvalidSeed() }
    return value
}

private func encoded(_ message: some Transferable) throws -> [UInt8] {
    try FrameWriter(message).withContent { [UInt8](copying: $0) }
}

private func exportAnswers() throws -> [[UInt8]] {
    let credential = try Credential(issuer: "Acme", account: "ann", key: secret)
    var entry = ExportedEntry(
        content: .oneTimePassword(credential), tags: ["tag"], note: "note", icon: "icon",
        isFavourite: true)
    entry.warnings = [.incompleteSecret, .keyURI(.rawSpace(.label))]
    var export = Export(
        format: .aegis, entries: [entry],
        refusals: [ExportRefusal(row: 7, line: 1, issuer: "A", account: "a", reason: .badDigits)],
        iconCount: 1)
    export.missingPictures = [2]
    return try [
        .export(export), .refused(.unknownFormat), .refused(.wrongPassword(.ente)),
        .refused(.overLimit(.keePass, .iterations, found: 129, allowed: 128)),
    ].map { (answer: ExportAnswer) in try encoded(answer) }
}

private func agentMessages() throws -> [[UInt8]] {
    let id = try RecordID(parsing: [UInt8](1...16).span)
    let form = try FrameWriter()
    form.append(UInt64(1), UInt64(2), "vault", "/folder/vault")
    let vault = try form.withContent { try VaultPlace(parsing: $0) }
    let access = AccessControl(presence: .perUse(.pam), onFailure: .lockOut)
    let details = EntryDetails(tags: ["tag"], note: "note", icon: "icon", isFavourite: true)
    let name = EntryName(issuer: "Acme", account: "eve")
    let contents: [EntryContent] = [
        .oneTimePassword(try Credential(issuer: "Acme", account: "ann", key: secret)),
        .oneTimePassword(
            try Credential(issuer: "", account: "bob", key: secret, movingFactor: .counter(7))),
        .plainSecret(issuer: "a", account: "b", value: secret),
    ]
    let openers: [VaultOpener] = [.passphrase(pin), .recoveryKey(.make())]
    let edits: [VaultEdit] = [
        .add(NewEntry(contents[0], details: details, accessControl: access)),
        .rename(id, to: name), .remove(id, purge: true),
    ]
    let requests: [AgentRequest] = [
        .unlock(vault, openers[0], ceiling: 20, .standard), .list(vault), .status,
        .find(vault, ["ann"], .counter), .code(vault, id, .counter, .none),
        .edit(vault, edits[0], .opener(openers[0])), .contents(vault, [id], .none, isUse: true),
    ]
    let responses: [AgentResponse] = [
        .done, .code(IssuedCode(text: "123456", counter: 7)), .contents(contents),
        .refused(.wait(seconds: 60)), .asks("Password: ", isEchoed: false), .failed(.wiped),
    ]
    let server = try valid(ServerAddress("https://login.example"))
    let tpm = try valid(TPMAddress("swtpm:host=127.0.0.1,port=2321"))
    let enrolment = Enrolment(
        pin, at: TrustedServer(server, authorities: []), deviceName: "Mill", name: name,
        access: AccessControlChange(presence: .perUse(.pam), onFailure: nil, reuse: ReuseTime(60)))
    let text = try valid(
        KeyConfirmation(
            parsing: "wwx_SIeaR8idBVnfcBJc64GIjtadkHmDZ_g8E8kCAsGel5w\n1800000000000\nPay\n"))
    let order = SigningOrder(for: server, in: tpm)
    let keyRequests: [KeyRequest] = [
        .server(id), .signIn(id, order), .confirm(id, text, order), .status(id),
        .enrol(KeyOrder(enrolment, in: .tpm(tpm, .chosen(pin), attests: true))),
    ]
    let loginRequests: [LoginRequest] =
        [.signIn(id), .enrol(enrolment)] + keyRequests.map(LoginRequest.key)
    let loginResponses: [LoginResponse] = [.server(server), .failed(.denied)]
    return try [encoded(details), encoded(access)] + contents.map { try encoded($0) }
        + openers.map { try encoded($0) } + edits.map { try encoded($0) }
        + requests.map { try encoded($0) } + responses.map { try encoded($0) }
        + keyRequests.map { try encoded($0) } + loginRequests.map { try encoded($0) }
        + loginResponses.map { try encoded($0) }
}

private func tokenMessages() throws -> [[UInt8]] {
    let object = try valid(
        TPMObject(
            publicArea: [1, 2], privateArea: [3], requiresPIN: true, isBoundToPCR7: false))
    let activation = try valid(KeyActivation(blob: [1], seed: [2, 3]))
    let credential = try valid(
        FIDOCredential(
            id: [1, 2, 3], salt: [UInt8](repeating: 7, count: 32),
            relyingParty: FIDOCredential.standardRelyingParty, requiresPIN: false))
    let requests: [TokenRequest] = [
        .seal(secret, pin: pin, isBoundToPCR7: true, in: .standard),
        .unseal(object, in: .standard), .activate(activation, in: .standard),
        .sign([1, 2], with: try tpmKey(), authorization: secret, in: .standard),
        .makeCredential(device: "/dev/hidraw0", salt: credential.salt, requiresPIN: true),
        .secret(of: credential, device: nil),
    ]
    let results: [TokenResponse] = [
        .sealed(object), .signature([1, 2, 3]), .attested(try attestation()),
        .made(credential, secret), .secret(secret),
    ]
    let messages: [TokenMessage] =
        [
            .ready(version: TokenMessage.version), .asksPIN(isRepeated: true, left: 3),
            .touch(number: 1, count: 2), .refused(.wrongPIN(left: 2)),
            .refused(.failed(call: "open", code: 4)),
        ] + results.map(TokenMessage.done)
    return try requests.map { try encoded($0) } + messages.map { try encoded($0) }
}

private func courierMessages() throws -> [[UInt8]] {
    let token = try valid(Token("cr_AAECAwQFBgcICQoLDA0ODw"))
    let ticket = SecretBytes(copying: Array("wwt_ticket".utf8).span)
    let nonce = try valid(RotationNonce(Array(0..<16)))
    let server = TrustedServer(
        try valid(ServerAddress("https://login.example:8443")), authorities: Array("PEM".utf8))
    let operations: [HelperRequest.Operation] = [
        .enrolment(ticket: ticket, deviceName: "phone"),
        .login(HelperRequest.Login(credential: token, secret: ticket, nonce: nonce)),
        .keyRegistration(try registration(), point: [4, 1], isInTPM: true),
        .keyActivation(credential: token, secret: ticket), .challenge(credential: token),
        .signature(
            HelperRequest.KeySignature(
                credential: token, challenge: token, confirmsText: true,
                presence: .cryptographic, signature: [1, 2])),
    ]
    let next = HelperResponse.NextSecret(secret: ticket, generation: 1)
    let time = PlainText(showing: "2026-11-21T21:00:00Z")
    let responses: [HelperResponse] = [
        .enrolled(credential: token, next),
        .accepted(
            HelperResponse.Acceptance(
                verification: token, login: ticket, expiresAt: time, next: next)),
        .registered(credential: token, custody: token), .keyActivated,
        .challenge(HelperResponse.KeyChallenge(token: token, expiry: 1_800_000_000_000)),
        .problem(
            HelperResponse.Problem(
                status: 400, type: PlainText(showing: "invalid-field"), retryAfter: 0)),
        .denied(wipe: .revoked),
    ]
    return try operations.map {
        try encoded(
            HelperRequest(server: server, idempotencyKey: "the-key", operation: $0))
    } + responses.map { try encoded(ResponseFrame(.success($0))) }
        + [encoded(ResponseFrame(.failure(.library(code: -7))))]
}

private func deviceKeys() throws -> [[UInt8]] {
    let signer = try SoftwareSigner.make()
    let holdings = [signer.holding, .tpm(try tpmKey(), authorization: secret)]
    let server = TrustedServer(try valid(ServerAddress("https://login.example")))
    return try holdings.flatMap { holding in
        try [Token("cr_1"), nil].map { credential in
            let key = EnrolledKey(
                server: server, credential: credential, changed: 0, point: signer.point,
                ticketDigest: [UInt8](repeating: 7, count: 32), holding: holding,
                registration: credential == nil ? try registration() : nil)
            return key.form().withBytes { [UInt8](copying: $0) }
        }
    }
}

private func tpmKey() throws -> TPMKey {
    try valid(
        TPMKey(
            publicArea: [1], privateArea: [2, 3], parent: 0x8100_0001, parentName: [4],
            requiresPIN: true))
}

private func attestation() throws -> KeyAttestation {
    try valid(
        KeyAttestation(
            certificates: [[1], [2, 3]], endorsementKey: [4], attestationKey: [5],
            deviceKey: [6], certification: [7], signature: [8]))
}

private func registration() throws -> HelperRequest.KeyRegistration {
    HelperRequest.KeyRegistration(
        ticket: pin, presence: .cryptographic, deviceName: "phone", signature: [3],
        attestation: try attestation())
}
