import PasskeyVerification
import Verification
import WatchwordCryptography

/// Reads the bytes as a key in COSE that follows a field, and verifies that field as its signature.
func fuzzPublicKey(_ bytes: [UInt8]) {
    var fields = FuzzedFields(bytes)
    let signature = fields.next()
    guard let read = key(fields.rest) else { return }
    switch read.publicKey {
    case .ellipticCurve(let curve, let point):
        precondition(curve == read.algorithm.curve, "the curve is the algorithm's")
        precondition(point.first == 4 && point.count == curve.pointCount, "points are uncompressed")
    case .rsa(let modulus, let exponent):
        precondition((256...512).contains(modulus.count), "moduli are bounded")
        precondition(exponent.count >= 3, "exponents are large")
    case .ed25519(let point): precondition(point.count == 32, "points have 32 bytes")
    }
    precondition(key(fields.rest + [0]) == nil, "bytes that are left are refused")
    let message = Array("nobody signed this".utf8)
    precondition(!isValid(signature, of: message, by: read), "a signature was forged")
}

/// Reads the bytes as the data that a device sends about its TPM: five fields, and certificates.
func fuzzDeviceKeyEvidence(_ bytes: [UInt8]) {
    var fields = FuzzedFields(bytes)
    let (endorsementKey, attestationKey) = (fields.next(), fields.next())
    let (deviceKey, certification, signature) = (fields.next(), fields.next(), fields.next())
    var certificates: [[UInt8]] = []
    // A single byte that is left is not a field.
    while fields.rest.count >= 2 { certificates.append(fields.next()) }
    let evidence = KeyAttestation(
        certificates: certificates, endorsementKey: endorsementKey,
        attestationKey: attestationKey, deviceKey: deviceKey, certification: certification,
        signature: signature)
    guard let evidence, let last = certificates.last else { return }
    do {
        guard case .ellipticCurve(.p256, let point) = try TPMPublicArea(deviceKey).publicKey,
            let transcript = transcript(presence: .advisory, audience: "https://login.example")
        else { return }
        // The last certificate is an anchor, so that what follows the chain is reached.
        let anchors = try TrustAnchors([Certificate(last)])
        _ = try VerifiedKeyAttestation(
            evidence, point: point, transcript: transcript, anchors: anchors, at: 1_795_000_000)
        preconditionFailure("a certification for another transcript was accepted")
    } catch {}
}

/// Makes a transcript of fields, which must be found again in its bytes.
func fuzzTranscript(_ bytes: [UInt8]) {
    var fields = FuzzedFields(bytes)
    let audience = String(decoding: fields.next(), as: UTF8.self)
    let credential = String(decoding: fields.next(), as: UTF8.self)
    let choice = Int(fields.rest.first ?? 0)
    let presences = DeviceKeyTranscript.Presence.allCases
    let presence = presences[choice % presences.count]
    let challenge = DeviceKeyTranscript.Challenge(
        [UInt8](repeating: UInt8(choice), count: 32), expiry: UInt64(choice) << 56 | 1)
    guard let scope = DeviceKeyTranscript.Scope(audience: audience, presence: presence),
        let challenge
    else {
        precondition(!(1...1_024).contains(audience.utf8.count), "an address of that length fits")
        return
    }
    let made = DeviceKeyTranscript.signIn(scope, credential: credential, challenge: challenge)
    var read = FuzzedFields(made.bytes)
    precondition(read.next() == Array("watchword device key 1".utf8), "the label is first")
    precondition(read.next() == Array("sign-in".utf8), "the purpose is second")
    precondition(read.next() == Array(audience.utf8), "the audience is third")
    precondition(read.next() == Array(credential.utf8), "the credential is fourth")
    precondition(read.next() == challenge.bytes, "the challenge is fifth")
    precondition(read.next().isEmpty, "there is no context")
    precondition(
        read.rest == [presence.rawValue, UInt8(choice), 0, 0, 0, 0, 0, 0, 1],
        "presence and expiry are last")
}

/// Fields that are preceded by their length in two bytes; the last field may be cut short.
private struct FuzzedFields {
    private(set) var rest: [UInt8]

    init(_ bytes: [UInt8]) { rest = bytes }

    mutating func next() -> [UInt8] {
        guard rest.count >= 2 else { return [] }
        let count = Int(rest[0]) << 8 | Int(rest[1])
        let field = Array(rest.dropFirst(2).prefix(count))
        rest = Array(rest.dropFirst(2 + count))
        return field
    }
}

private func key(_ encoded: [UInt8]) -> VerificationKey? {
    do { return try COSEKey.read(encoded) } catch { return nil }
}

private func isValid(
    _ signature: [UInt8], of message: [UInt8], by key: VerificationKey
) -> Bool {
    do {
        return try key.isValid(signature.span, of: message.span)
    } catch { preconditionFailure("OpenSSL failed") }
}

private func transcript(
    presence: DeviceKeyTranscript.Presence, audience: String
) -> DeviceKeyTranscript? {
    DeviceKeyTranscript.Scope(audience: audience, presence: presence).flatMap { scope in
        DeviceKeyTranscript.Challenge([UInt8](repeating: 9, count: 32), expiry: 1).map {
            .signIn(scope, credential: "cr_AAECAwQFBgcICQoLDA0ODw", challenge: $0)
        }
    }
}
