import Testing
import Verification
import WatchwordCryptography

@testable import PasskeyVerification

/// The keys that check the signatures of passkeys that do not exist.
struct DummyPasskeyKeyTests {
    @Test("V-06 each algorithm has a dummy key that OpenSSL loads and that accepts no signature")
    func keys() throws {
        for algorithm in SignatureAlgorithm.allCases {
            let key = try COSEKey.read(
                alreadyChecked: DummyPasskeyKey.encoded(algorithm))
            #expect(key.algorithm == algorithm)
            // The points also satisfy the equation of the curve.
            if algorithm != .rs256 { _ = try COSEKey.read(DummyPasskeyKey.encoded(algorithm)) }
            for count in [0, 64, 70, 256] {
                let signature = [UInt8](repeating: 1, count: count)
                #expect(try !key.isValid(signature.span, of: [1, 2, 3].span))
            }
        }
    }

    @Test("V-06 unknown passkeys have every offered algorithm, most often ES256")
    func proportions() {
        func counts(_ offered: [SignatureAlgorithm]) -> [SignatureAlgorithm: Int] {
            (UInt8.min...UInt8.max).reduce(into: [:]) {
                $0[DummyPasskeyKey.algorithm(for: $1, among: offered), default: 0] += 1
            }
        }
        #expect(counts([.es256]) == [.es256: 256])
        #expect(counts([.es256, .rs256]) == [.es256: 240, .rs256: 16])
        #expect(
            counts([.rs256, .es512, .es256, .ed25519, .es384]) == [
                .es256: 192, .rs256: 16, .es384: 16, .es512: 16, .ed25519: 16,
            ])
        #expect(counts([.rs256, .es384]) == [.rs256: 128, .es384: 128])
    }

    @Test("V-06 an id always has the same dummy algorithm, which depends on the key ring")
    func stable() throws {
        let (first, second) = (try KeyRing.make(), try KeyRing.make())
        var differs = false
        for number in 0..<64 {
            let id = [UInt8](repeating: UInt8(number), count: 16)
            let choice = first.lookup.dummyChoice(of: id)
            #expect(first.lookup.dummyChoice(of: id) == choice)
            differs = differs || second.lookup.dummyChoice(of: id) != choice
        }
        #expect(differs)
    }
}
