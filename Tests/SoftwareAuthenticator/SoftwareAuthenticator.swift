/// A CTAP 2 authenticator in software, with PIN protocol 1 and `hmac-secret`.
///
/// The authenticator stores nothing: a credential's ID contains all necessary data, authenticated
/// with the seed.
final class SoftwareAuthenticator {
    /// The fault of the authenticator.
    enum Fault: String {
        case sound
        /// The user does not touch the authenticator.
        case untouched
        /// The user presses “no”.
        case declined
        /// The authenticator never responds.
        case silent
        /// The responses are not CBOR.
        case garbage
        /// The responses end early.
        case truncated
        /// The authenticator does not support `hmac-secret`.
        case noSecret
        /// The authenticator computes a different secret each time.
        case changingSecret
    }

    private let seed: [UInt8]
    private let pin: [UInt8]?
    private var retries: Int
    private var failuresInARow = 0
    private let fault: Fault
    private var agreement = AgreementOverP256()
    private let pinToken = [UInt8](repeating: 0x5a, count: 32)
    private var calls: UInt8 = 0
    /// The response to the last message.
    private(set) var response: (command: UInt8, bytes: [UInt8]) = (0, [])

    init(seed: [UInt8], pin: [UInt8]?, retries: Int, fault: Fault) {
        self.seed = seed
        self.pin = pin
        self.retries = retries
        self.fault = fault
    }

    /// Handles a message of the transport.
    func receive(_ command: UInt8, _ bytes: [UInt8]) {
        switch command {
        // The response to INIT: the nonce, a channel, protocol 2, a version, and the CBOR
        // capability.
        case 0x06: response = (command, bytes + [0, 0, 0, 1, 2, 1, 0, 0, 0x04])
        case 0x10: response = (command, spoiled(reply(to: bytes), to: bytes.first ?? 0))
        default: response = (0x3f, [0x01])
        }
    }

    var isSilent: Bool { fault == .silent }

    private func spoiled(_ reply: [UInt8], to command: UInt8) -> [UInt8] {
        // The authenticator must identify itself, or libfido2 would not use it at all.
        guard command == 0x01 || command == 0x02 else { return reply }
        return switch fault {
        case .garbage: [0] + [UInt8](repeating: 0xff, count: 70)
        case .truncated: Array(reply.prefix(reply.count / 2))
        default: reply
        }
    }

    private func reply(to message: [UInt8]) -> [UInt8] {
        var rest = message.dropFirst()
        let request = CBOR(decoding: &rest) ?? .map([])
        switch message.first {
        case 0x04: return success(information)
        case 0x06: return answerPIN(request)
        case 0x01: return makeCredential(request)
        case 0x02: return assertion(request)
        default: return [0x01]
        }
    }

    private func success(_ value: CBOR) -> [UInt8] { [0] + value.encoded }

    private var information: CBOR {
        let extensions: [CBOR] = fault == .noSecret ? [] : [.text("hmac-secret")]
        return .object([
            (.integer(1), .array([.text("FIDO_2_0")])), (.integer(2), .array(extensions)),
            (.integer(3), .bytes([UInt8](repeating: 0x42, count: 16))),
            (
                .integer(4),
                .object([
                    (.text("rk"), .bool(true)), (.text("up"), .bool(true)),
                    (.text("clientPin"), .bool(pin != nil)),
                ])
            ),
            (.integer(5), .integer(1200)), (.integer(6), .array([.integer(1)])),
        ])
    }

    // MARK: PIN

    private func answerPIN(_ request: CBOR) -> [UInt8] {
        switch request[2] {
        case .integer(1)?: return success(.object([(.integer(3), .integer(retries))]))
        case .integer(2)?: return success(.object([(.integer(1), agreement.cose)]))
        case .integer(5)?: return answerPINToken(request)
        default: return [0x01]
        }
    }

    private func answerPINToken(_ request: CBOR) -> [UInt8] {
        guard retries > 0 else { return [0x32] }
        guard failuresInARow < 3 else { return [0x34] }
        guard let pin else { return [0x35] }
        guard let key = request[3], let shared = agreement.shared(with: key) else { return [0x02] }
        retries -= 1
        let given = cipher(request[6]?.data ?? [], under: shared, encrypts: false)
        guard given == Array(digest(pin).prefix(16)) else {
            agreement = AgreementOverP256()
            failuresInARow += 1
            if retries == 0 { return [0x32] }
            return failuresInARow == 3 ? [0x34] : [0x31]
        }
        (retries, failuresInARow) = (8, 0)
        return success(
            .object([(.integer(2), .bytes(cipher(pinToken, under: shared, encrypts: true)))]))
    }

    /// Whether the request proves the PIN; `nil` if the proof is wrong.
    private func isVerified(_ request: CBOR, proof: Int) -> Bool? {
        guard let given = request[proof]?.data else { return false }
        let hash = request[proof == 8 ? 1 : 2]?.data ?? []
        return given == Array(mac(pinToken, hash).prefix(16)) ? true : nil
    }

    // MARK: Credentials

    private func makeCredential(_ request: CBOR) -> [UInt8] {
        if fault == .untouched { return [0x2f] }
        if fault == .declined { return [0x27] }
        guard let verified = isVerified(request, proof: 8) else { return [0x33] }
        // CTAP 2.0: if a PIN is set, making a credential requires the PIN.
        guard verified || pin == nil else { return [0x36] }
        let party = request[2]?["id"]?.string ?? ""
        calls += 1
        let nonce = mac(seed, [calls] + Array(party.utf8) + (request[1]?.data ?? []))
        let id = nonce + mac(seed, nonce + Array(party.utf8))
        guard case .map(let pairs) = agreement.cose else { return [0x7f] }
        let point = CBOR.map(pairs)
        let key = AgreementOverP256.cose(
            x: (point[-2]?.data ?? [])[...], y: (point[-3]?.data ?? [])[...], algorithm: -7)
        let extended = fault != .noSecret && request[6]?["hmac-secret"] == .bool(true)
        let more = extended ? CBOR.object([(.text("hmac-secret"), .bool(true))]).encoded : []
        let data =
            authenticatorData(party, flags: 0x41 | (verified ? 4 : 0) | (extended ? 0x80 : 0))
            + [UInt8](repeating: 0x42, count: 16) + [0, UInt8(id.count)] + id + key.encoded + more
        return success(
            .object([
                (.integer(1), .text("packed")), (.integer(2), .bytes(data)),
                (
                    .integer(3),
                    .object([(.text("alg"), .integer(-7)), (.text("sig"), .bytes(signature))])
                ),
            ]))
    }

    /// The caller does not verify signatures.
    private var signature: [UInt8] { [0x30, 6, 2, 1, 1, 2, 1, 1] }

    private func assertion(_ request: CBOR) -> [UInt8] {
        let party = request[1]?.string ?? ""
        guard case .array(let allowed)? = request[3],
            let id = allowed.map({ $0["id"]?.data ?? [] }).first(where: { isOwn($0, of: party) })
        else { return [0x2e] }
        let isTouchNeeded = request[5]?["up"] != .bool(false)
        if isTouchNeeded, fault == .untouched { return [0x2f] }
        if isTouchNeeded, fault == .declined { return [0x27] }
        guard let verified = isVerified(request, proof: 6) else { return [0x33] }
        var secret: [UInt8] = []
        if fault != .noSecret, let input = request[4]?["hmac-secret"] {
            guard let found = hmacSecret(input, of: id, verified: verified) else { return [0x33] }
            secret = CBOR.object([(.text("hmac-secret"), .bytes(found))]).encoded
        }
        let flags: UInt8 =
            (isTouchNeeded ? 1 : 0) | (verified ? 4 : 0) | (secret.isEmpty ? 0 : 0x80)
        return success(
            .object([
                (
                    .integer(1),
                    .object([(.text("id"), .bytes(id)), (.text("type"), .text("public-key"))])
                ),
                (.integer(2), .bytes(authenticatorData(party, flags: flags) + secret)),
                (.integer(3), .bytes(signature)),
            ]))
    }

    private func isOwn(_ id: [UInt8], of party: String) -> Bool {
        id.count == 64
            && Array(id.suffix(32)) == mac(seed, Array(id.prefix(32)) + Array(party.utf8))
    }

    /// The secret differs with and without user verification (CTAP 2.1, section 12.5).
    private func hmacSecret(_ input: CBOR, of id: [UInt8], verified: Bool) -> [UInt8]? {
        guard let key = input[1], let shared = agreement.shared(with: key) else { return nil }
        let salt = input[2]?.data ?? []
        guard Array(mac(shared, salt).prefix(16)) == input[3]?.data else { return nil }
        calls += 1
        let change: [UInt8] = fault == .changingSecret ? [calls] : []
        let random = mac(seed, [verified ? 1 : 0] + id + change)
        let secret = mac(random, cipher(salt, under: shared, encrypts: false))
        return cipher(secret, under: shared, encrypts: true)
    }

    private func authenticatorData(_ party: String, flags: UInt8) -> [UInt8] {
        digest(Array(party.utf8)) + [flags] + [0, 0, 0, calls]
    }
}
