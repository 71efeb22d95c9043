import PasskeyVerification
import Verification
import WatchwordCryptography

/// Passkeys of one authenticator in software, and the browser in front of it.
///
/// All passkeys share one key, which costs the server the same as separate keys.
struct PasskeyPopulation: Sendable {
    /// The number of passkeys; their subjects are `person-0` and so on.
    let count: Int
    private let key: SigningKey

    static let relyingParty = "mill.example"
    static let origin = "https://mill.example"

    init(count: Int) throws {
        self.count = count
        key = try SigningKey(scalar: SecretBytes(copying: [UInt8](repeating: 7, count: 32).span))
    }

    /// The public point of all passkeys.
    var point: [UInt8] { key.point }

    func subject(_ number: Int) throws -> Subject {
        guard let subject = Subject("person-\(number)") else { throw BenchmarkError.refused }
        return subject
    }

    static func passkeys(_ verifier: Verifier) throws -> Passkeys {
        Passkeys(
            verifier,
            for: try RelyingParty(ids: [relyingParty], name: "Mill", origins: [origin]))
    }

    func fill(_ store: any VerificationStore, keys: KeyRing, batch: Int) async throws {
        try await store.fill(count, keys: keys, batch: batch) { number, verifier in
            let passkeys = try Self.passkeys(verifier)
            let outcome = try await passkeys.beginRegistration(
                PasskeyEnrolment(for: try subject(number)))
            guard case .granted(let grant) = outcome else { throw BenchmarkError.refused }
            let response = RegistrationResponse(
                credentialID: try id(number),
                clientData: ClientData.read(
                    clientData("webauthn.create", grant.options.challenge)),
                attestationObject: try attestationObject(number),
                transports: ["hybrid", "internal"])
            let finished = try await passkeys.finishRegistration(
                of: grant.credential, with: response)
            guard case .accepted? = finished else { throw BenchmarkError.refused }
            return grant.credential
        }
    }

    /// The JSON that the browser returns after it signed a challenge.
    func signed(_ number: Int, _ challenge: [UInt8]) throws -> [UInt8] {
        try signed(id(number), challenge, by: signature(message(challenge)))
    }

    /// The JSON in the same form, with any id and any signature.
    func signed(
        _ id: [UInt8], _ challenge: [UInt8], by signature: [UInt8]
    ) throws -> [UInt8] {
        let clientData = encoded(clientData("webauthn.get", challenge))
        let data = encoded(try authenticatorData(flags: 0x05))
        let (id, signature) = (encoded(id), encoded(signature))
        return Array(
            """
            {"id":"\(id)","rawId":"\(id)","type":"public-key","response":{\
            "clientDataJSON":"\(clientData)",\
            "authenticatorData":"\(data)",\
            "signature":"\(signature)"},"clientExtensionResults":{}}
            """.utf8)
    }

    /// The bytes that the passkey signs.
    func message(_ challenge: [UInt8]) throws -> [UInt8] {
        try authenticatorData(flags: 0x05) + digest(clientData("webauthn.get", challenge))
    }

    func signature(_ message: [UInt8]) throws -> [UInt8] { try key.sign(message.span) }

    private func id(_ number: Int) throws -> [UInt8] {
        Array(digest(Array("passkey \(number)".utf8)).prefix(16))
    }

    private func clientData(_ type: String, _ challenge: [UInt8]) -> [UInt8] {
        let text = encoded(challenge)
        return Array(
            #"{"type":"\#(type)","challenge":"\#(text)","origin":"\#(Self.origin)"}"#.utf8)
    }

    private func authenticatorData(flags: UInt8) throws -> [UInt8] {
        digest(Array(Self.relyingParty.utf8)) + [flags, 0, 0, 0, 0]
    }

    private func digest(_ bytes: [UInt8]) -> [UInt8] { sha256(bytes.span) }

    private func encoded(_ bytes: [UInt8]) -> String { Base64URL.encode(bytes.span) }

    private func attestationObject(_ number: Int) throws -> [UInt8] {
        var data = try authenticatorData(flags: 0x45)
        data += [UInt8](repeating: 0, count: 16) + [0, 16] + (try id(number))
        data += [0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32] + point[1..<33]
        data += [0x22, 0x58, 32] + point[33...]
        return [0xa3, 0x63] + Array("fmt".utf8) + [0x64] + Array("none".utf8)
            + [0x67] + Array("attStmt".utf8) + [0xa0]
            + [0x68] + Array("authData".utf8) + [0x58, UInt8(data.count)] + data
    }
}
