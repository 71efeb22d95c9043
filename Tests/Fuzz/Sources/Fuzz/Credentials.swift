import PasskeyVerification
import Verification
import WatchwordCryptography

private let hash = [UInt8](repeating: 7, count: 32)

/// Reads the bytes as an attestation object, and verifies its statement.
func fuzzAttestation(_ bytes: [UInt8]) {
    let object: AttestationObject
    do { object = try AttestationObject(bytes) } catch { return }
    let registration = object.registration
    precondition((1...1023).contains(registration.credentialID.count), "ids are bounded")
    precondition(key(registration.encodedKey) != nil, "the key is read again")
    verify(object)
}

/// Puts the bytes, the statement and what follows, behind a valid format and authenticator data.
///
/// The first byte chooses the format.
func fuzzStatement(_ bytes: [UInt8]) {
    let formats = ["packed", "fido-u2f", "tpm", "android-key", "apple", "none"]
    guard let first = bytes.first else { return }
    let format = Array(formats[Int(first) % formats.count].utf8)
    var encoded: [UInt8] = [0xa3, 0x68] + Array("authData".utf8)
    encoded += [0x58, UInt8(data.count)] + data
    encoded += [0x63] + Array("fmt".utf8) + [0x60 | UInt8(format.count)] + format
    encoded += [0x67] + Array("attStmt".utf8) + bytes.dropFirst()
    do { verify(try AttestationObject(encoded)) } catch { return }
}

/// Reads the bytes as authenticator data of both ceremonies.
func fuzzAuthenticatorData(_ bytes: [UInt8]) {
    do {
        let read = try RegistrationData(bytes)
        precondition(read.data.encoded == bytes, "all bytes are signed")
        precondition(read.data.flags.hasCredential, "a registration has a credential")
    } catch {}
    do {
        let read = try AuthenticatorData(assertion: bytes)
        precondition(!read.flags.hasCredential, "an authentication has no credential")
    } catch {}
}

/// Reads the bytes as a public area and as a certification; protects a secret for the area's key.
func fuzzTPM(_ bytes: [UInt8]) {
    do {
        let area = try TPMPublicArea(bytes)
        protect(for: area.publicKey, name: area.name())
        for algorithm in SignatureAlgorithm.allCases {
            do { _ = try VerificationKey(area.publicKey, algorithm: algorithm) } catch { continue }
        }
    } catch {}
    do { _ = try TPMCertification(bytes) } catch {}
}

private func protect(for publicKey: PublicKey, name: [UInt8]) {
    let key: EndorsementKey
    do { key = try EndorsementKey(publicKey) } catch { return }
    let count: Int
    switch publicKey {
    case .rsa(let modulus, _): count = modulus.count
    case .ellipticCurve(let curve, _):
        precondition(curve == .p256, "other curves are refused")
        // Two coordinates with their lengths.
        count = 2 * (2 + curve.coordinateCount)
    case .ed25519: preconditionFailure("endorsement keys do not sign")
    }
    do {
        let secret = SecretBytes(copying: [1, 2, 3].span)
        let activation = try KeyActivation(protecting: secret, for: name, endorsementKey: key)
        precondition(activation.seed.count == count, "the seed has the length of its kind")
    } catch { preconditionFailure("OpenSSL failed") }
}

/// Reads the bytes as a certificate, and checks a chain of it alone.
func fuzzCertificate(_ bytes: [UInt8]) {
    do {
        let certificate = try Certificate(bytes)
        precondition(certificate.encoded == bytes, "the certificate is what was read")
        for found in certificate.extensions {
            do { _ = try DERElement.readOne(found.value).children() } catch { continue }
        }
        let anchors = try TrustAnchors([])
        let outcome = try anchors.check([certificate, certificate], at: 1_795_000_000)
        precondition(outcome != .anchored, "nothing is trusted")
        _ = try TrustAnchors([certificate]).check([certificate], at: 1_795_000_000)
    } catch {}
}

/// Reads a key as the server reads a stored one: OpenSSL's check of an RSA key draws random numbers
/// and may refuse a weak key that it accepted before.
private func key(_ encoded: [UInt8]) -> VerificationKey? {
    do { return try COSEKey.read(alreadyChecked: encoded) } catch { return nil }
}

private func verify(_ object: AttestationObject) {
    do {
        switch try object.verify(clientDataHash: hash) {
        // The fuzzer cannot sign, so no statement can be valid.
        case .verified(.selfAttested): preconditionFailure("a signature was forged")
        case .verified(.certified), .verified(.weaklyCertified):
            preconditionFailure("a signature was forged")
        case .verified(.none), .verified(.unknownFormat), .denied: return
        }
    } catch {
        preconditionFailure("OpenSSL failed")
    }
}

/// Authenticator data with the generator of P-256 as its key.
private let data: [UInt8] = {
    let x = bytes("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
    let y = bytes("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
    let head = [UInt8](repeating: 1, count: 32) + [0x45, 0, 0, 0, 0]
    let credential = [UInt8](repeating: 2, count: 16) + [0, 1, 3]
    let key = [0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32] + x + [0x22, 0x58, 32] + y
    return head + credential + key
}()

private func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue).map { UInt8($0) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
