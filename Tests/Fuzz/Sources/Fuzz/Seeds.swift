@testable import Courier
@testable import DeviceLogin
@testable import Devices
@testable import Exports
@testable import LocalEnrolment
import OneTimePassword
@testable import SecretVault
@testable import VaultService
import WatchwordCryptography
@testable import WatchwordSystem

/// Messages and stored forms from which the fuzzer starts.
///
/// The code that is fuzzed encodes them, and must accept them again, so they stay valid when an
/// encoding changes.
func messageSeeds() throws -> [(target: FuzzTarget, bytes: [UInt8])] {
    var seeds = try exportAnswers().map { (target: FuzzTarget.answer, bytes: $0) }
    seeds += try agentMessages().map { (.transfer, $0) }
    seeds += try vaultMessages().map { (.transfer, $0) }
    seeds += try enrolmentMessages().map { (.transfer, $0) }
    seeds += try tokenMessages().map { (.token, $0) }
    seeds += try courierMessages().map { (.courier, $0) }
    seeds += try deviceKeys().map { (.devicekey, $0) }
    return seeds
}

private enum InvalidSeed: Error {
    /// The parts do not form a valid value.
    case noValue
    /// The type does not accept its own encoding.
    case refused(by: String)
}

private let secret = SecretBytes(copying: [UInt8](repeating: 7, count: 32).span)
private let pin = SecretBytes(copying: Array("2580".utf8).span)

/// The value, which must exist.
private func valid<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw InvalidSeed.noValue }
    return value
}

/// The encoding of the message, which its type must accept.
private func encoded<Message: Transferable>(_ message: Message) throws -> [UInt8] {
    let bytes = try FrameWriter(message).withContent { [UInt8](copying: $0) }
    guard expectOneForm(Message.self, bytes) else {
        throw InvalidSeed.refused(by: "\(Message.self)")
    }
    return bytes
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

private let id = RecordID([UInt8](1...16).span)
private let name = EntryName(issuer: "Acme", account: "eve")
private let access = AccessControl(presence: .perUse(.pam), onFailure: .lockOut)
private let details = EntryDetails(tags: ["tag"], note: "note", icon: "icon", isFavourite: true)

private func agentMessages() throws -> [[UInt8]] {
    let form = try FrameWriter()
    form.append(UInt64(1), UInt64(2), "vault", "/folder/vault")
    let vault = try form.withContent { try VaultPlace(parsing: $0) }
    let contents: [EntryContent] = [
        .oneTimePassword(try Credential(issuer: "Acme", account: "ann", key: secret)),
        .oneTimePassword(
            try Credential(issuer: "", account: "bob", key: secret, movingFactor: .counter(7))),
        .plainSecret(issuer: "a", account: "b", value: secret),
    ]
    let openers: [VaultOpener] = [.passphrase(pin), .recoveryKey(.make())]
    let edits: [VaultEdit] = [
        .add(
            NewEntry(
                contents[0], details: details, accessControl: access,
                binding: BindingChoice(nil, deviceName: "Mill", tpm: .standard))),
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

private func enrolmentMessages() throws -> [[UInt8]] {
    let requests: [EnrolmentRequest] = [
        .begin(version: EnrolmentRequest.version, .add(name: "phone")), .answer(pin),
    ]
    let credential = OwnCredential(
        id: "cr_", kind: "recovery", state: "active", name: "", createdAt: "2026-11-29T10:00:00Z",
        lastUsedAt: nil, remaining: 9)
    let responses: [EnrolmentResponse] = [
        .asks(.code, isRepeated: true), .credentials([credential]), .recoveryCodes([pin]),
        .refused(.mustWait(seconds: 60)),
    ]
    return try requests.map { try encoded($0) } + responses.map { try encoded($0) }
}

/// The contents of a vault, and changes to a vault.
private func vaultMessages() throws -> [[UInt8]] {
    let content = EntryContent.oneTimePassword(
        try Credential(issuer: "Acme", account: "ann", key: secret))
    let properties = EntryProperties(
        of: content, details: details, created: 1,
        edited: EntryEdit(time: 2, save: SaveID([UInt8](1...8).span)))
    let binding = EntryBinding(
        device: DeviceID([UInt8](1...16).span), binding: .file, name: "laptop", state: 7,
        isHere: true)
    let entries = [nil, Tombstone(time: 3, reason: .revoked)].map { tombstone in
        ListedEntry(
            EntrySummary(
                id: id, accessControl: access, tombstone: tombstone,
                binding: tombstone == nil ? binding : nil, properties: properties),
            counter: tombstone == nil ? 7 : nil)
    }
    let methods: [SlotSummary.Method] = [.passphrase(logN: 17), .recoveryKey, .other("x")]
    let slots = methods.map {
        SlotSummary(number: 1, method: $0, created: 5, publicKey: [1, 2])
    }
    let check = VaultCheck(
        opened: 3, closed: 0, damages: [.line(4), .record(id)], reports: [.vanished(id)],
        hasRecoveryKey: true, previous: .whole(generation: 4))
    let status = VaultStatus(
        lockOut: LockOut(failures: 7, seconds: 60), wiped: 1, failuresUntilLockOut: 0,
        failuresUntilWipe: 2)
    var revision = EntryRevision(id: id, kind: .totp)
    revision.issuer = "Other"
    revision.details = DetailsChange(added: ["a"], removed: ["b"], note: "", isFavourite: false)
    revision.codes = CodeChange(
        algorithm: .sha512, length: .six, period: 60, counter: 7, secret: secret)
    revision.access = AccessControlChange(
        presence: .perUse(.pam), onFailure: nil, reuse: ReuseTime(60))
    var choices = DuplicateChoices(.keep)
    choices.choose(.replace, for: name)
    let item = ImportItem(
        content, details: details,
        origin: ImportItem.Origin(accessControl: access, created: -1))
    let edits: [VaultEdit] = [.revise(revision), .importing(ImportEdit([item], choices))]
    let outcomes: [EditOutcome] = [
        .added(twin: name, bound: .tpm), .removed,
        .revised(
            name, RevisionWarnings(movesBack: true, credential: [.digits(10)]), bound: nil),
        .imported([.added(name), .refused(.tooLong)], replacedPerUse: [id]),
        .refused(.noSuchTag(name, tag: "b")),
    ]
    return try [encoded(check), encoded(status)] + entries.map { try encoded($0) }
        + slots.map { try encoded($0) } + edits.map { try encoded($0) }
        + outcomes.map { try encoded($0) }
        + enrolledKeys().map { try encoded(KeyState(of: $0)) }
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
    let frames: [ModuleFrame] = [
        .ready(version: ModuleFrame.version), .says("Touch the device", isError: false),
        .asks("Password: ", isEchoed: false), .verdict(.denied),
    ]
    return try requests.map { try encoded($0) } + messages.map { try encoded($0) }
        + frames.map { try encoded($0) }
        + [encoded(EnrolledFingers(text: "left-thumb,right-thumb"))]
}

private func courierMessages() throws -> [[UInt8]] {
    let token = try valid(Token("cr_AAECAwQFBgcICQoLDA0ODw"))
    let ticket = SecretBytes(copying: Array("wwt_ticket".utf8).span)
    let nonce = try valid(RotationNonce(Array(0..<16)))
    let server = TrustedServer(
        try valid(ServerAddress("https://login.example:8443")), authorities: Array("PEM".utf8))
    let operations: [HelperRequest.Operation] = [
        .enrolment(ticket: ticket, deviceName: "phone", custody: .tpm),
        .login(HelperRequest.Login(credential: token, secret: ticket, nonce: nonce)),
        .keyRegistration(try registration(isAttested: true), point: [4, 1], isInTPM: true),
        .keyActivation(credential: token, secret: ticket), .challenge(credential: token),
        .signature(
            HelperRequest.KeySignature(
                credential: token, challenge: token, confirmsText: true,
                presence: .cryptographic, signature: [1, 2])),
        .application(ApplicationRequest(.post, "/v1/verifications", body: secret)),
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
        .denied(wipe: .revoked), .content(secret),
    ]
    return try operations.map {
        try encoded(
            HelperRequest(
                server: server, idempotencyKey: "the-key", apiKey: ticket, operation: $0))
    } + responses.map { try encoded(ResponseFrame(.success($0))) }
        + [encoded(ResponseFrame(.failure(.library(code: -7))))]
}

private func deviceKeys() throws -> [[UInt8]] {
    try enrolledKeys().map { key in
        let form = key.form()
        guard EnrolledKey(reading: form) != nil else {
            throw InvalidSeed.refused(by: "EnrolledKey")
        }
        return form.withBytes { [UInt8](copying: $0) }
    }
}

/// Keys in a vault and in a TPM, registered and not.
private func enrolledKeys() throws -> [EnrolledKey] {
    let signer = try SoftwareSigner.make()
    let holdings = [signer.holding, .tpm(try tpmKey(), authorization: secret)]
    let server = TrustedServer(try valid(ServerAddress("https://login.example")))
    return try holdings.flatMap { holding in
        try [Token("cr_1"), nil].map { credential in
            EnrolledKey(
                server: server, credential: credential, changed: 0, point: signer.point,
                ticketDigest: [UInt8](repeating: 7, count: 32), holding: holding,
                registration: credential == nil
                    ? try registration(isAttested: holding.isInTPM) : nil)
        }
    }
}

private func tpmKey() throws -> TPMKey {
    try valid(
        TPMKey(
            publicArea: [0, 1, 6], privateArea: [2, 3], parent: 0x8100_0001, parentName: [4],
            requiresPIN: true))
}

private func attestation() throws -> KeyAttestation {
    try valid(
        KeyAttestation(
            certificates: [[1], [2, 3]], endorsementKey: [4], attestationKey: [5],
            deviceKey: [6], certification: [7], signature: [8]))
}

private func registration(isAttested: Bool) throws -> HelperRequest.KeyRegistration {
    HelperRequest.KeyRegistration(
        ticket: pin, presence: .cryptographic, deviceName: "phone", signature: [3],
        attestation: isAttested ? try attestation() : nil)
}
