import TestSupport
import WatchwordCryptography

/// The parts of the authenticator data of a registration, so that tests can change one.
struct RegistrationBytes {
    var relyingPartyHash = [UInt8](repeating: 7, count: 32)
    var flags: UInt8 = 0x45
    var count: [UInt8] = [0, 0, 0, 9]
    var model = [UInt8](repeating: 3, count: 16)
    var credentialID = [UInt8](repeating: 5, count: 32)
    /// The length that is stated.
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

    /// What every ceremony has.
    var header: [UInt8] { relyingPartyHash + [flags] + count }
}
