import TestSupport
import Testing
import WatchwordCoding
import WatchwordCryptography
import WatchwordSystem

@testable import Devices

/// The messages that `watchword` and `watchword-token` send to each other.
struct TokenMessageTests {
    private static let secret = SecretBytes(text: String(repeating: "s", count: 32))
    private static let pin = SecretBytes(text: "2580")

    private static func object() throws -> TPMObject {
        try #require(
            TPMObject(
                publicArea: [1, 2], privateArea: [3], requiresPIN: true, isBoundToPCR7: false))
    }

    private static func key() throws -> TPMKey {
        try #require(
            TPMKey(
                publicArea: [1], privateArea: [2, 3], parent: 0x8100_0001, parentName: [4],
                requiresPIN: true))
    }

    private static func credential() throws -> FIDOCredential {
        try #require(
            FIDOCredential(
                id: [1, 2, 3], salt: [UInt8](repeating: 7, count: 32),
                relyingParty: FIDOCredential.standardRelyingParty, requiresPIN: false))
    }

    private static func attestation(certificates: [Int], structure: Int) throws -> KeyAttestation {
        let bytes = [UInt8](repeating: 5, count: structure)
        return try #require(
            KeyAttestation(
                certificates: certificates.map { [UInt8](repeating: 9, count: $0) },
                endorsementKey: bytes, attestationKey: bytes, deviceKey: bytes,
                certification: bytes,
                signature: [UInt8](repeating: 6, count: KeyAttestation.longestSignature)))
    }

    @Test("each request decodes unchanged, and other bytes are refused")
    func requests() throws {
        let (secret, pin, key) = (Self.secret, Self.pin, try Self.key())
        let activation = try #require(KeyActivation(blob: [1], seed: [2, 3]))
        let credential = try Self.credential()
        let requests: [TokenRequest] = [
            .seal(secret, pin: pin, isBoundToPCR7: true, in: .standard),
            .seal(secret, pin: nil, isBoundToPCR7: false, in: .standard),
            .unseal(try Self.object(), in: .standard),
            .makeKey(authorization: secret, pin: pin, in: .standard),
            .makeKey(authorization: secret, pin: nil, in: .standard),
            .sign([1, 2], with: key, authorization: secret, in: .standard),
            .attest(key, for: [], authorization: secret, in: .standard),
            .activate(activation, in: .standard),
            .makeCredential(device: "/dev/hidraw0", salt: credential.salt, requiresPIN: true),
            .makeCredential(device: nil, salt: credential.salt, requiresPIN: false),
            .secret(of: credential, device: "/dev/hidraw1"),
            .secret(of: credential, device: nil),
        ]
        for request in requests { try MessageForm.check(request) }
    }

    @Test("an empty PIN or path counts as none")
    func empty() throws {
        let empty = SecretBytes(capacity: 0) { _ in }
        let none = try MessageForm.bytes(of: OptionalPIN(nil))
        #expect(try MessageForm.bytes(of: OptionalPIN(empty)) == none)
        #expect(try MessageForm.bytes(of: OptionalPIN(Self.pin)) != none)
        let credential = try Self.credential()
        #expect(
            try MessageForm.bytes(of: TokenRequest.secret(of: credential, device: ""))
                == MessageForm.bytes(of: TokenRequest.secret(of: credential, device: nil)))
    }

    @Test("a secret, a PIN, a message or a path that is too long is refused")
    func limits() throws {
        func text(_ count: Int) -> String { String(repeating: "1", count: count) }
        let salt = [UInt8](repeating: 7, count: 32)
        let key = try Self.key()
        func requests(_ more: Int) -> [TokenRequest] {
            [
                .seal(
                    SecretBytes(text: text(32 + more)), pin: nil, isBoundToPCR7: true,
                    in: .standard),
                .seal(
                    Self.secret, pin: SecretBytes(text: text(32 + more)), isBoundToPCR7: true,
                    in: .standard),
                .makeKey(
                    authorization: SecretBytes(text: text(32 + more)), pin: nil, in: .standard),
                .sign(
                    Array(text(1_400 + more).utf8), with: key, authorization: Self.secret,
                    in: .standard),
                .makeCredential(device: text(255 + more), salt: salt, requiresPIN: true),
                .makeCredential(
                    device: nil, salt: salt + [UInt8](repeating: 7, count: more),
                    requiresPIN: true),
            ]
        }
        for request in requests(0) { try MessageForm.check(request) }
        for request in requests(1) {
            let read: TokenRequest? = MessageForm.read(try MessageForm.bytes(of: request))
            #expect(read == nil)
        }
        for (count, isRead) in [(63, true), (64, false)] {
            let answer = OptionalPIN(SecretBytes(text: text(count)))
            let bytes = try MessageForm.bytes(of: answer)
            #expect((MessageForm.read(bytes, as: OptionalPIN.self) != nil) == isRead)
            #expect((bytes.count <= TokenMessage.largestAnswer) == isRead)
        }
    }

    @Test("each message of the helper decodes unchanged, and other bytes are refused")
    func messages() throws {
        let key = try Self.key()
        let results: [TokenResponse] = [
            .sealed(try Self.object()),
            .madeKey(key, point: [UInt8](repeating: 4, count: TPMKey.pointCount)),
            .signature([1, 2, 3]),
            .attested(try Self.attestation(certificates: [1, 2], structure: 3)),
            .made(try Self.credential(), Self.secret), .secret(Self.secret),
        ]
        var messages: [TokenMessage] = [
            .ready(version: TokenMessage.version), .asksPIN(isRepeated: false, left: nil),
            .asksPIN(isRepeated: true, left: 3), .touch(number: 1, count: 2),
        ]
        messages += results.map(TokenMessage.done)
        messages += Self.refusals.map(TokenMessage.refused)
        for message in messages { try MessageForm.check(message) }
    }

    @Test("a key's point and a slot's secret have a fixed length, and a signature a maximum length")
    func lengths() throws {
        let key = try Self.key()
        let results: [TokenResponse] = [
            .madeKey(key, point: [UInt8](repeating: 4, count: 64)),
            .madeKey(key, point: [UInt8](repeating: 4, count: 66)),
            .signature([UInt8](repeating: 1, count: 73)),
            .secret(SecretBytes(text: "short")),
            .made(try Self.credential(), SecretBytes(text: "short")),
        ]
        for result in results {
            let read: TokenResponse? = MessageForm.read(try MessageForm.bytes(of: result))
            #expect(read == nil)
        }
    }

    @Test("the largest attestation fits into a frame")
    func largest() throws {
        let attestation = try Self.attestation(
            certificates: Array(
                repeating: KeyAttestation.largestCertificate,
                count: KeyAttestation.mostCertificates),
            structure: KeyAttestation.largestStructure)
        try MessageForm.check(attestation)
        #expect(try MessageForm.bytes(of: attestation).count == KeyAttestation.largest)
        let message = TokenMessage.done(.attested(attestation))
        #expect(try MessageForm.bytes(of: message).count == TokenMessage.largestFrame)
    }

    /// One message of each kind.
    private static let refusals: [TokenFailure] = [
        .noDevice, .noPermission, .busy, .otherDevice, .wrongPIN(left: nil), .wrongPIN(left: 2),
        .noPIN, .failed(call: "Esys_Load", code: .max),
        .notConfined(SystemCallFailure(call: "seccomp_load", number: -38)), .badDeviceResponse,
        .badRequest, .lockedOut(seconds: nil), .lockedOut(seconds: 7_200), .changedPCR7, .noPCR7,
        .ownerPassword, .noCertificate, .blockedPIN, .needsReinsertion, .noPINSet, .notTouched,
        .declined, .notSupported, .severalDevices,
    ]
}
