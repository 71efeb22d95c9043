@testable import PasskeyVerification
import TestSupport
import Testing
import Verification
import WatchwordCryptography

@Suite("Authenticator data")
struct AuthenticatorDataTests {
    private let good: RegistrationBytes
    private let signing: SigningKey

    init() throws {
        signing = try SigningKey.make()
        good = RegistrationBytes(signing)
    }

    @Test("the fields of a registration are read")
    func registration() throws {
        let read = try RegistrationData(good.encoded)
        #expect(read.data.encoded == good.encoded)
        #expect(read.data.relyingPartyHash == good.relyingPartyHash)
        #expect(read.data.signatureCount == 9)
        #expect(read.model == good.model)
        #expect(read.credentialID == good.credentialID)
        #expect(read.encodedKey == good.key.encoded)
        #expect(read.key.publicKey == .ellipticCurve(.p256, point: signing.point))
        #expect(try COSEKey.read(read.encodedKey).publicKey == read.key.publicKey)
        var changed = good
        changed.count = [255, 255, 255, 255]
        #expect(try RegistrationData(changed.encoded).data.signatureCount == .max)
    }

    @Test("every truncation is refused")
    func truncated() throws {
        let encoded = good.encoded
        for count in encoded.indices {
            #expect(throws: DenialReason.authenticatorData) {
                try RegistrationData(Array(encoded.prefix(count)))
            }
        }
        let assertion = assertion(flags: 5)
        for count in assertion.indices {
            #expect(throws: DenialReason.authenticatorData) {
                try AuthenticatorData(assertion: Array(assertion.prefix(count)))
            }
        }
    }

    @Test("W-05 K-44 a byte after authenticator data is refused")
    func bytesLeft() throws {
        var changed = good
        changed.rest = [0]
        #expect(throws: DenialReason.authenticatorData) { try RegistrationData(changed.encoded) }
        #expect(throws: DenialReason.authenticatorData) {
            try AuthenticatorData(assertion: assertion(flags: 5) + [0])
        }
    }

    @Test("K-47 an attested credential is refused in an authentication, and required otherwise")
    func attestedCredential() throws {
        #expect(throws: DenialReason.authenticatorData) {
            try AuthenticatorData(assertion: good.encoded)
        }
        #expect(throws: DenialReason.authenticatorData) {
            try AuthenticatorData(assertion: assertion(flags: 0x45))
        }
        #expect(throws: Never.self) { try AuthenticatorData(assertion: assertion(flags: 0x05)) }
        var changed = good
        changed.flags = 0x05
        #expect(throws: DenialReason.authenticatorData) { try RegistrationData(changed.encoded) }
        #expect(throws: DenialReason.authenticatorData) { try RegistrationData(changed.header) }
    }

    @Test("W-05 W-13 K-48 extension outputs are one map, present exactly when their flag is set")
    func extensions() throws {
        let map = EncodedCBOR.named(["credProps": .named(["rk": .boolean(true)])]).encoded
        for (flags, rest, isAccepted) in [
            (UInt8(0xc5), map, true), (0x45, map, false), (0xc5, [], false),
            (0xc5, map + map, false), (0xc5, [0x80], false), (0xc5, [0xa0], true),
            (0xc5, [0xa2, 0x61, 0x62, 1, 0x61, 0x61, 1], false),
        ] {
            var changed = good
            changed.flags = flags
            changed.rest = rest
            let registration = changed.encoded
            let assertion = assertion(flags: flags & 0xbf) + rest
            if isAccepted {
                #expect(throws: Never.self) { try RegistrationData(registration) }
                #expect(throws: Never.self) { try AuthenticatorData(assertion: assertion) }
            } else {
                #expect(throws: DenialReason.authenticatorData) {
                    try RegistrationData(registration)
                }
                #expect(throws: DenialReason.authenticatorData) {
                    try AuthenticatorData(assertion: assertion)
                }
            }
        }
    }

    @Test("K-49 a credential id that extends beyond the end is refused")
    func lengthBeyondTheEnd() {
        let rest = good.credentialID.count + good.key.encoded.count
        for stated in [rest + 1, 0xffff] {
            var changed = good
            changed.statedCount = stated
            #expect(throws: DenialReason.authenticatorData) {
                try RegistrationData(changed.encoded)
            }
        }
    }

    @Test("W-10 K-50 a credential's id has 1 to 1,023 bytes")
    func credentialID() throws {
        for (count, isAccepted) in [(0, false), (1, true), (1023, true), (1024, false)] {
            var changed = good
            changed.credentialID = [UInt8](repeating: 1, count: count)
            if isAccepted {
                #expect(try RegistrationData(changed.encoded).credentialID.count == count)
            } else {
                #expect(throws: DenialReason.credentialID) {
                    try RegistrationData(changed.encoded)
                }
            }
        }
    }

    @Test("K-16, K-17, K-18 and K-20 the relying party and each flag are checked")
    func flags() throws {
        let cases: [(UInt8, Bool, DenialReason?)] = [
            (0x05, true, nil), (0x01, false, nil), (0x01, true, .userVerification),
            (0x04, true, .userPresence), (0x04, false, .userPresence), (0x00, false, .userPresence),
            (0x15, true, .backupFlags), (0x0d, true, nil), (0x1d, true, nil),
            (0x11, false, .backupFlags),
            // Reserved bits are ignored.
            (0x27, true, nil),
        ]
        for (flags, isRequired, reason) in cases {
            let data = try AuthenticatorData(assertion: assertion(flags: flags))
            #expect(
                data.denial(
                    relyingPartyHash: good.relyingPartyHash, requiresUserVerification: isRequired)
                    == reason, "\(flags)")
        }
        let data = try AuthenticatorData(assertion: assertion(flags: 0x05))
        for index in 0..<32 {
            var other = good.relyingPartyHash
            other[index] ^= 1
            #expect(
                data.denial(relyingPartyHash: other, requiresUserVerification: true)
                    == .relyingParty)
        }
        #expect(
            data.denial(
                relyingPartyHash: Array(good.relyingPartyHash.prefix(31)),
                requiresUserVerification: true) == .relyingParty)
    }

    @Test("each flag is read from its bit")
    func bits() {
        typealias Flags = AuthenticatorFlags
        let properties: [(UInt8, KeyPath<Flags, Bool>)] = [
            (0, \.isUserPresent), (2, \.isUserVerified), (3, \.isBackupEligible),
            (4, \.isBackedUp), (6, \.hasCredential), (7, \.hasExtensions),
        ]
        for bit in UInt8(0)..<8 {
            let flags = Flags(1 << bit)
            for (own, property) in properties { #expect(flags[keyPath: property] == (own == bit)) }
        }
    }

    @Test("W-19 an assertion is valid only with its own authenticator data, client data and key")
    func signature() throws {
        let data = try AuthenticatorData(assertion: assertion(flags: 5))
        let hash = [UInt8](repeating: 1, count: 32)
        let message = data.encoded + hash
        let signature = try signing.sign(message.span)
        let key = try RegistrationData(good.encoded).key
        #expect(try data.isSigned(signature, by: key, clientDataHash: hash))
        for index in data.encoded.indices where index != 32 {
            var changed = data.encoded
            changed[index] ^= 1
            let other = try AuthenticatorData(assertion: changed)
            #expect(try !other.isSigned(signature, by: key, clientDataHash: hash))
        }
        let other = try RegistrationData(RegistrationBytes(SigningKey.make()).encoded).key
        #expect(try !data.isSigned(signature, by: other, clientDataHash: hash))
        #expect(try !data.isSigned(signature, by: key, clientDataHash: hash.map { $0 ^ 1 }))
    }

    private func assertion(flags: UInt8) -> [UInt8] {
        var changed = good
        changed.flags = flags
        return changed.header
    }
}

/// The parts of the authenticator data of a registration, each of which tests can change.
struct RegistrationBytes {
    var relyingPartyHash = [UInt8](repeating: 7, count: 32)
    var flags: UInt8 = 0x45
    var count: [UInt8] = [0, 0, 0, 9]
    var model = [UInt8](repeating: 3, count: 16)
    var credentialID = [UInt8](repeating: 5, count: 32)
    /// The length that the data states.
    var statedCount: Int?
    var key: EncodedCBOR
    var rest: [UInt8] = []

    /// A key on P-256.
    init(_ key: SigningKey) { self.key = Self.key(key.point) }

    static func key(_ point: [UInt8]) -> EncodedCBOR {
        .numbered([
            1: .integer(2), 3: .integer(-7), -1: .integer(1), -2: .bytes(Array(point[1..<33])),
            -3: .bytes(Array(point[33...])),
        ])
    }

    var encoded: [UInt8] {
        let count = statedCount ?? credentialID.count
        return header + model + [UInt8(count >> 8), UInt8(count & 0xff)] + credentialID
            + key.encoded + rest
    }

    /// The fields that every ceremony has.
    var header: [UInt8] { relyingPartyHash + [flags] + count }
}
