import TestSupport
import Testing
import Verification
import WatchwordCryptography

/// One change to a valid ceremony, and the reason for the denial.
struct PasskeyCase: CustomTestStringConvertible, Sendable {
    /// The id of the case, and a description of the change.
    let name: String
    /// The reason; `nil` if the browser's object is refused for its form.
    let reason: DenialReason?
    let change: @Sendable (inout TestPasskey) -> Void

    var testDescription: String { name }

    init(
        _ name: String, _ reason: DenialReason?,
        _ change: @escaping @Sendable (inout TestPasskey) -> Void
    ) {
        self.name = name
        self.reason = reason
        self.change = change
    }

    static func edit(
        _ name: String, _ reason: DenialReason?, replacing text: String, with other: String
    ) -> PasskeyCase {
        PasskeyCase(name, reason) { passkey in
            passkey.editClientData = { Array($0.replacing(text, with: other).utf8) }
        }
    }
}

// The changes that both ceremonies share.
extension PasskeyCase {
    static let both: [PasskeyCase] = origins + clientData + general

    private static let general: [PasskeyCase] = [
        PasskeyCase("K-12 another ceremony's challenge", .challenge) {
            $0.challenge = [UInt8](repeating: 1, count: 32)
        },
        PasskeyCase("K-12 a part of the challenge", .challenge) { $0.challenge = [] },
        .edit(
            "K-14 a padded challenge", .challenge, replacing: #"","origin"#,
            with: #"=","origin"#),
        PasskeyCase("K-16 another relying party", .relyingParty) {
            $0.relyingPartyID = "other.example"
        },
        PasskeyCase("K-16 the domain above", .relyingParty) { $0.relyingPartyID = "example" },
        PasskeyCase("K-17 no user", .userPresence) { $0.flags = 0x04 },
        PasskeyCase("K-18 an unverified user", .userVerification) { $0.flags = 0x01 },
        PasskeyCase("K-20 a backup that is not possible", .backupFlags) { $0.flags = 0x15 },
        PasskeyCase("K-23 a frame of another origin", .crossOrigin) { $0.isCrossOrigin = true },
        PasskeyCase("K-25 a top origin without a frame", .topOrigin) {
            $0.topOrigin = "https://mill.example"
        },
        PasskeyCase("K-44 a byte after the data", .authenticatorData) { $0.rest = [0] },
        PasskeyCase("K-48 the flag ED without a map", .authenticatorData) { $0.flags |= 0x80 },
        PasskeyCase("K-48 a map without the flag ED", .authenticatorData) { $0.rest = [0xa0] },
        PasskeyCase("K-48 more than a map", .authenticatorData) {
            $0.flags |= 0x80
            $0.rest = [0xa0, 0xa0]
        },
        PasskeyCase("K-48 a list for a map", .authenticatorData) {
            $0.flags |= 0x80
            $0.rest = [0x80]
        },
        PasskeyCase("K-41 a key twice in the extensions", .authenticatorData) {
            $0.flags |= 0x80
            $0.rest = [0xa2, 0x61, 0x61, 1, 0x61, 0x61, 1]
        },
        PasskeyCase("K-42 extensions of indefinite length", .authenticatorData) {
            $0.flags |= 0x80
            $0.rest = [0xbf, 0xff]
        },
        PasskeyCase("K-43 a length that is not in its shortest form", .authenticatorData) {
            $0.flags |= 0x80
            $0.rest = [0xb8, 0]
        },
        PasskeyCase("K-45 five levels", .authenticatorData) {
            $0.flags |= 0x80
            $0.rest = [0xa1, 0x61, 0x61, 0x81, 0x81, 0x81, 0x80]
        },
        PasskeyCase("K-46 2^32 members", .authenticatorData) {
            $0.flags |= 0x80
            $0.rest = [0xba, 0xff, 0xff, 0xff, 0xff]
        },
        PasskeyCase("36 bytes of data", .authenticatorData) {
            $0.editData = { Array($0.prefix(36)) }
        },
        PasskeyCase("K-50 an id of 1,024 bytes", nil) {
            $0.statedID = [UInt8](repeating: 7, count: 1_024)
        },
        PasskeyCase("K-50 an empty id", nil) { $0.statedID = [] },
    ]

    private static let origins: [PasskeyCase] = [
        ("K-01", "https://other.example"), ("K-02", "https://mill.example.evil"),
        ("K-03", "https://a.mill.example"), ("K-03", "https://login.mill.example"),
        ("K-04", "https://mill.example:444"), ("K-04", "https://login.mill.example:8444"),
        ("K-05", "http://mill.example"), ("K-06", "https://mill.example."),
        ("K-06", "https://mill.example/"), ("K-06", "https://MILL.example"),
        ("K-06", "https://Mill.example"), ("K-06", "null"), ("K-06", ""),
        ("K-06", "https://xn--mill.example"), ("K-06", "https://mill.exam\u{70}le\u{301}"),
    ].map { id, origin in
        PasskeyCase("\(id) the origin “\(origin)”", .origin) { $0.origin = origin }
    }

    private static let clientData: [PasskeyCase] = [
        PasskeyCase("no JSON", .clientData) { $0.hasClientData = false },
        PasskeyCase.edit(
            "K-26 tokenBinding as a text", .clientData, replacing: #","crossOrigin""#,
            with: #","tokenBinding":"supported","crossOrigin""#),
        PasskeyCase.edit(
            "K-27 a duplicate name", .clientData, replacing: #","crossOrigin""#,
            with: #","type":"webauthn.get","crossOrigin""#),
        PasskeyCase.edit(
            "K-27 a number for a text", .clientData,
            replacing: #","origin":"https://mill.example""#,
            with: #","origin":1"#),
        PasskeyCase.edit(
            "K-27 a text for a Boolean", .clientData, replacing: "false", with: #""false""#),
        PasskeyCase.edit(
            "K-27 NUL", .clientData, replacing: ".example\"", with: #".example\u0000""#),
        PasskeyCase("K-27 invalid UTF-8", .clientData) {
            $0.editClientData = {
                Array($0.utf8.dropLast()) + [0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]
            }
        },
        PasskeyCase("K-27 5 KiB", .clientData) {
            $0.editClientData = { Array($0.utf8) + [UInt8](repeating: 0x20, count: 5 << 10) }
        },
        PasskeyCase("K-27 two byte order marks", .clientData) {
            $0.editClientData = { [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf] + Array($0.utf8) }
        },
        PasskeyCase("K-27 a byte after the object", .clientData) {
            $0.editClientData = { Array($0.utf8) + [0x78] }
        },
    ]

    /// Changes after which a ceremony is still valid.
    static let accepted: [PasskeyCase] = [
        PasskeyCase("K-27 one byte order mark", nil) {
            $0.editClientData = { [0xef, 0xbb, 0xbf] + Array($0.utf8) }
        },
        PasskeyCase.edit(
            "K-26 tokenBinding as an object, and a member that nobody knows", nil,
            replacing: #","crossOrigin""#,
            with:
                #","tokenBinding":{"status":1},"later":{"a":[1.5,12345678901234567890123]},"crossOrigin""#
        ),
        PasskeyCase.edit(
            "without crossOrigin", nil, replacing: #","crossOrigin":false"#, with: ""),
        PasskeyCase("another origin that is listed", nil) {
            $0.origin = "https://login.mill.example:8443"
        },
        PasskeyCase("with extensions", nil) {
            $0.flags |= 0x80
            $0.rest = [0xa1, 0x61, 0x61, 0x81, 0x81, 0x80]
        },
    ]
}

// The changes that only a registration has.
extension PasskeyCase {
    static let registrations: [PasskeyCase] = keys + objects

    private static let objects: [PasskeyCase] = [
        PasskeyCase("K-07 a get response", .ceremonyType) { $0.type = "webauthn.get" },
        PasskeyCase("K-47 no attested credential", .authenticatorData) {
            $0.editData = { data in
                var data = data
                data[32] &= 0xbf
                return data
            }
        },
        PasskeyCase("K-49 an id that is longer than the data", .authenticatorData) {
            $0.editData = { data in
                var data = data
                data[53] = 0xff
                return data
            }
        },
        PasskeyCase("K-50 another id than the browser's", .credentialID) {
            $0.statedID = [UInt8](repeating: 8, count: 16)
        },
        PasskeyCase("K-50 an id that is too long in the data", .credentialID) {
            $0.id = [UInt8](repeating: 7, count: 1_024)
            $0.statedID = [7]
        },
        PasskeyCase("K-44 a byte after the object", .attestationObject) {
            $0.editObject = { $0 + [0] }
        },
        PasskeyCase("K-41 a member twice", .attestationObject) {
            $0.editObject = { [0xa4] + $0.dropFirst() + [0x63, 0x66, 0x6d, 0x74, 0x60] }
        },
        PasskeyCase("a further member", .attestationObject) {
            $0.editObject = { [0xa4] + $0.dropFirst() + [0x61, 0x61, 0x00] }
        },
        PasskeyCase("K-42 an object of indefinite length", .attestationObject) {
            $0.editObject = { [0xbf] + $0.dropFirst() + [0xff] }
        },
        PasskeyCase("K-43 a head that is not in its shortest form", .attestationObject) {
            $0.editObject = { [0xb8, 3] + $0.dropFirst() }
        },
        PasskeyCase("K-46 2^32 members claimed", .attestationObject) {
            $0.editObject = { [0xba, 0xff, 0xff, 0xff, 0xff] + $0.dropFirst() }
        },
        PasskeyCase("K-46 2^64-1 bytes claimed", .attestationObject) { passkey in
            passkey.editObject = { _ in [0x5b] + [UInt8](repeating: 0xff, count: 8) }
        },
        PasskeyCase("K-62 none with members", .attestation) {
            $0.statement = .named(["alg": .integer(-7)])
        },
        PasskeyCase("K-61 a self attestation with another algorithm", .attestation) {
            $0.format = "packed"
            $0.statement = .named(["alg": .integer(-257), "sig": .bytes([1])])
        },
        PasskeyCase("K-62 a self attestation with a wrong signature", .attestation) {
            $0.format = "packed"
            $0.statement = .named(["alg": .integer(-7), "sig": .bytes([1])])
        },
    ]
}

// The changes that only an authentication has.
extension PasskeyCase {
    static let authentications: [PasskeyCase] = [
        PasskeyCase("K-08 a create response", .ceremonyType) { $0.type = "webauthn.create" },
        PasskeyCase("K-47 an attested credential", .authenticatorData) { $0.flags |= 0x40 },
        PasskeyCase("an unknown id", .unknown) { $0.statedID = [8] },
        PasskeyCase("K-54 another user handle", .userHandle) {
            $0.userHandle = [UInt8](repeating: 1, count: 32)
        },
        PasskeyCase("a signature over other client data", .signature) { $0.signsOtherData = true },
        PasskeyCase("K-38 an empty signature", .signature) { $0.signature = [] },
        PasskeyCase("K-37 a byte after the signature", .signature) {
            $0.editSignature = { $0 + [0] }
        },
        PasskeyCase("K-37 a signature in BER", .signature) {
            $0.editSignature = { [0x30, 0x81] + $0.dropFirst() }
        },
        PasskeyCase("K-37 a raw signature", .signature) {
            $0.editSignature = { Self.raw($0) }
        },
        PasskeyCase("K-38 r is 0", .signature) {
            $0.editSignature = { Self.encoded([0], Self.numbers($0).s) }
        },
        PasskeyCase("K-38 s is 0", .signature) {
            $0.editSignature = { Self.encoded(Self.numbers($0).r, [0]) }
        },
        PasskeyCase("K-38 r is n", .signature) {
            $0.editSignature = { Self.encoded([0] + order, Self.numbers($0).s) }
        },
        PasskeyCase("K-38 s is n", .signature) {
            $0.editSignature = { Self.encoded(Self.numbers($0).r, [0] + order) }
        },
        PasskeyCase("K-38 one bit of the signature", .signature) {
            $0.editSignature = { signature in
                var signature = signature
                signature[signature.count - 1] ^= 1
                return signature
            }
        },
    ]

    /// K-39: the second valid signature with the same r.
    static let mirrored = PasskeyCase("K-39 (r, n-s)", nil) {
        $0.editSignature = { signature in
            let (r, s) = Self.numbers(signature)
            return Self.encoded(r, Self.positive(Self.subtract(Self.padded(s), from: order)))
        }
    }

    /// The order of P-256.
    private static let order: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63,
        0x25, 0x51,
    ]

    /// The two numbers of a signature in DER, with their signs.
    private static func numbers(_ signature: [UInt8]) -> (r: [UInt8], s: [UInt8]) {
        let count = Int(signature[3])
        return (Array(signature[4..<(4 + count)]), Array(signature[(6 + count)...]))
    }

    /// The same signature as r and s (IEEE P1363).
    static func raw(_ signature: [UInt8]) -> [UInt8] {
        let (r, s) = numbers(signature)
        return padded(r) + padded(s)
    }

    private static func encoded(_ r: [UInt8], _ s: [UInt8]) -> [UInt8] {
        let body = [0x02, UInt8(r.count)] + r + [0x02, UInt8(s.count)] + s
        return [0x30, UInt8(body.count)] + body
    }

    /// An unsigned number as 32 bytes.
    private static func padded(_ number: [UInt8]) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, 32 - number.count)) + number.suffix(32)
    }

    /// The shortest form, with a sign byte if necessary.
    private static func positive(_ number: [UInt8]) -> [UInt8] {
        let digits = Array(number.drop { $0 == 0 })
        return (digits.first ?? 0xff) & 0x80 == 0 ? digits : [0] + digits
    }

    private static func subtract(_ number: [UInt8], from other: [UInt8]) -> [UInt8] {
        var difference = other
        var borrow = 0
        for index in difference.indices.reversed() {
            let digit = Int(other[index]) - Int(number[index]) - borrow
            borrow = digit < 0 ? 1 : 0
            difference[index] = UInt8(digit & 0xff)
        }
        return difference
    }
}
