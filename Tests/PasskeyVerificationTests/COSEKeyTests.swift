import TestSupport
import Testing
import Verification
import WatchwordCryptography

@testable import PasskeyVerification

@Suite("COSE keys")
struct COSEKeyTests {
    private let x: EncodedCBOR
    private let y: EncodedCBOR
    private let modulus = EncodedCBOR.bytes([0xff] + .init(repeating: 0xab, count: 255))
    private let exponent = EncodedCBOR.bytes([1, 0, 1])

    init() throws {
        let point = try SigningKey.make().point
        x = .bytes(Array(point[1..<33]))
        y = .bytes(Array(point[33...]))
    }

    @Test("a key on P-256 is accepted, and refused with any of its parameters changed")
    func parameters() throws {
        #expect(try read([1: 2, 3: -7, -1: 1], x, y).algorithm == .es256)
        let changes: [(KeyValuePairs<Int64, Int64>, DenialReason)] = [
            ([1: 1, 3: -7, -1: 1], .publicKey), ([1: 3, 3: -7, -1: 1], .publicKey),
            ([1: 2, 3: -7, -1: 2], .publicKey), ([1: 2, 3: -35, -1: 1], .publicKey),
            ([1: 2, 3: -36, -1: 3], .publicKey), ([1: 2, 3: -7, -1: -1], .publicKey),
            ([3: -7, -1: 1], .authenticatorData), ([1: 2, -1: 1], .authenticatorData),
            ([1: 2, 3: -7], .authenticatorData), ([1: 2, 3: -7, 4: 2, -1: 1], .authenticatorData),
        ]
        for (numbers, reason) in changes {
            #expect(throws: reason) { try read(numbers, x, y) }
        }
        #expect(throws: DenialReason.authenticatorData) { try read([1: 2, 3: -7, -1: 1], x) }
        #expect(throws: DenialReason.publicKey) {
            try read([1: 2, 3: -7, -1: 1], x, .boolean(true))
        }
        #expect(throws: DenialReason.publicKey) { try read([1: 2, 3: -7, -1: 1], y, x) }
    }

    @Test("K-29 RS256 is refused for a key on a curve, and ES256 for an RSA key")
    func anotherType() throws {
        #expect(throws: DenialReason.publicKey) { try read([1: 2, 3: -257, -1: 1], x, y) }
        let rsa = EncodedCBOR.numbered([1: .integer(3), 3: .integer(-7), -1: modulus, -2: exponent])
        #expect(throws: DenialReason.publicKey) { try COSEKey.read(rsa.encoded) }
    }

    @Test("K-30 Ed448 is refused for the algorithm -8")
    func ed448() throws {
        func key(_ curve: Int64, _ count: Int) -> [UInt8] {
            EncodedCBOR.numbered([
                1: .integer(1), 3: .integer(-8), -1: .integer(curve),
                -2: .bytes(.init(repeating: 0x11, count: count)),
            ]).encoded
        }
        #expect(throws: DenialReason.publicKey) { try COSEKey.read(key(7, 57)) }
        #expect(throws: DenialReason.publicKey) { try COSEKey.read(key(6, 57)) }
        #expect(throws: DenialReason.publicKey) { try COSEKey.read(key(7, 32)) }
    }

    @Test(
        "N-25 an unknown algorithm is refused", arguments: [-37, -47, -65535, 0, 7, -258])
    func unknownAlgorithm(number: Int64) throws {
        #expect(throws: DenialReason.algorithm) { try read([1: 2, 3: number, -1: 1], x, y) }
    }

    @Test("K-35 coordinates of 31 and 33 bytes are refused")
    func coordinates() throws {
        for count in [0, 31, 33] {
            let bytes = EncodedCBOR.bytes(.init(repeating: 1, count: count))
            #expect(throws: DenialReason.publicKey) { try read([1: 2, 3: -7, -1: 1], bytes, y) }
            #expect(throws: DenialReason.publicKey) { try read([1: 2, 3: -7, -1: 1], x, bytes) }
        }
    }

    @Test("the order of keys is checked, and trailing bytes are refused")
    func order() throws {
        let swapped = EncodedCBOR.numbered([
            3: .integer(-7), 1: .integer(2), -1: .integer(1), -2: x, -3: y,
        ])
        #expect(throws: DenialReason.authenticatorData) { try COSEKey.read(swapped.encoded) }
        let sorted = EncodedCBOR.numbered([
            1: .integer(2), 3: .integer(-7), -1: .integer(1), -2: x, -3: y,
        ])
        #expect(throws: Never.self) { try COSEKey.read(sorted.encoded) }
        #expect(throws: DenialReason.authenticatorData) { try COSEKey.read(sorted.encoded + [0]) }
    }

    private func read(
        _ numbers: KeyValuePairs<Int64, Int64>, _ x: EncodedCBOR, _ y: EncodedCBOR? = nil
    ) throws -> VerificationKey {
        var members = numbers.map { EncodedCBOR.Member(.integer($0.key), .integer($0.value)) }
        members.append(.init(.integer(-2), x))
        if let y { members.append(.init(.integer(-3), y)) }
        return try COSEKey.read(EncodedCBOR.map(members).encoded)
    }
}
