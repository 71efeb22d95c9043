import TestSupport
import Testing

@testable import WatchwordCryptography

@Suite("Verification keys")
struct VerificationKeyTests {
    struct Vector: Codable, Sendable {
        let name: String
        let algorithm: Int64
        let type: String
        let point: String?
        let modulus: String?
        let exponent: String?
        let message: String?
        let signature: String?
        let isValid: Bool?
        let refused: String?

        var publicKey: PublicKey {
            get throws {
                let point = try Hex.bytes(point ?? "")
                return switch type {
                case "P-256": .ellipticCurve(.p256, point: point)
                case "P-384": .ellipticCurve(.p384, point: point)
                case "P-521": .ellipticCurve(.p521, point: point)
                case "Ed25519": .ed25519(point)
                default:
                    .rsa(
                        modulus: try Hex.bytes(modulus ?? ""),
                        exponent: try Hex.bytes(exponent ?? ""))
                }
            }
        }
    }

    private static let vectors = Result {
        try VectorFile<Vector>("signatures/signatures.json").cases
    }

    @Test(
        "K-37, K-38, K-39 and K-40 a signature is valid only in DER, with numbers in their range")
    func signatures() throws {
        var count = 0
        for vector in try Self.vectors.get() where vector.refused == nil {
            let algorithm = try #require(SignatureAlgorithm(rawValue: vector.algorithm))
            let key = try VerificationKey(vector.publicKey, algorithm: algorithm)
            let signature = try Hex.bytes(vector.signature ?? "")
            let message = try Hex.bytes(vector.message ?? "")
            let isValid = try key.isValid(signature.span, of: message.span)
            #expect(isValid == vector.isValid, "\(vector.name)")
            count += 1
        }
        #expect(count > 40)
    }

    @Test("K-63 a digest that OpenSSL refuses is distinguished from an invalid signature")
    func refusedDigest() throws {
        let vector = try #require(
            Self.vectors.get().first { $0.algorithm == -257 && $0.isValid == true })
        let key = try VerificationKey(vector.publicKey, algorithm: .rs256)
        let signature = try Hex.bytes(vector.signature ?? "")
        let message = try Hex.bytes(vector.message ?? "")
        for (name, isValid) in [("SHA2-256", true), ("SHA1", false), ("SHA0", nil)]
            as [(StaticString, Bool?)]
        {
            let found = key.isValidWithSHA1(signature.span, of: message.span, digestName: name)
            #expect(found == isValid, "\(name)")
        }
    }

    /// The errors by the names that the vectors give them.
    private static let refusals: [String: CryptographyError] = [
        "algorithm": .otherAlgorithm, "exponent": .exponent, "invalid": .invalidKey,
        "modulus": .modulus, "pointForm": .pointForm, "primeModulus": .primeModulus,
        "smallOrder": .smallOrder,
    ]

    @Test("K-32, K-33, K-34, K-35 and K-36 invalid keys are refused")
    func keys() throws {
        var count = 0
        for vector in try Self.vectors.get() {
            guard let refused = vector.refused else { continue }
            let algorithm = try #require(SignatureAlgorithm(rawValue: vector.algorithm))
            do {
                _ = try VerificationKey(vector.publicKey, algorithm: algorithm)
                Issue.record("\(vector.name) was accepted")
            } catch let error as CryptographyError {
                #expect(error == Self.refusals[refused], "\(vector.name)")
            }
            count += 1
        }
        #expect(count > 30)
    }

    @Test("an already checked key is loaded without OpenSSL's check, but not without Watchword's")
    func alreadyChecked() throws {
        var (loaded, refused) = (0, 0)
        for vector in try Self.vectors.get() {
            guard let reason = vector.refused else { continue }
            let algorithm = try #require(SignatureAlgorithm(rawValue: vector.algorithm))
            do {
                _ = try VerificationKey(alreadyChecked: vector.publicKey, algorithm: algorithm)
                #expect(["invalid", "primeModulus"].contains(reason), "\(vector.name)")
                loaded += 1
            } catch let error as CryptographyError {
                #expect(error == Self.refusals[reason], "\(vector.name)")
                refused += 1
            }
        }
        #expect(loaded > 0)
        #expect(refused > 30)
        // The loaded key verifies in the same way.
        for vector in try Self.vectors.get() where vector.refused == nil {
            let algorithm = try #require(SignatureAlgorithm(rawValue: vector.algorithm))
            let key = try VerificationKey(alreadyChecked: vector.publicKey, algorithm: algorithm)
            let signature = try Hex.bytes(vector.signature ?? "")
            let message = try Hex.bytes(vector.message ?? "")
            #expect(try key.isValid(signature.span, of: message.span) == vector.isValid)
        }
    }

    @Test("a signature with e = 1 needs no private key, which is why such a key is refused")
    func exponentOfOne() throws {
        let vector = try #require(
            Self.vectors.get().first { $0.name == "K-36 e = 1" })
        #expect(throws: CryptographyError.exponent) {
            try VerificationKey(vector.publicKey, algorithm: .rs256)
        }
        // The same modulus with the usual exponent is accepted.
        guard case .rsa(let modulus, _) = try vector.publicKey else { return }
        #expect(throws: Never.self) {
            try VerificationKey(.rsa(modulus: modulus, exponent: [1, 0, 1]), algorithm: .rs256)
        }
    }

    @Test("keys that are created and released on many threads verify only their own signatures")
    func reused() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let (own, other) = (try SigningKey.make(), try SigningKey.make())
                    for round in 0..<50 {
                        let message = Array("message \(number) \(round)".utf8)
                        let signature = try own.sign(message.span)
                        // A refused point must not stay in a key that is used again.
                        var wrong = own.point
                        wrong[64] ^= 1
                        #expect(throws: CryptographyError.invalidKey) {
                            try VerificationKey(
                                .ellipticCurve(.p256, point: wrong), algorithm: .es256)
                        }
                        for (signer, isValid) in [(own, true), (other, false)] {
                            let key = try VerificationKey(
                                .ellipticCurve(.p256, point: signer.point), algorithm: .es256)
                            #expect(
                                try key.isValid(signature.span, of: message.span) == isValid)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("one key verifies on many threads at once")
    func threads() async throws {
        let signing = try SigningKey.make()
        let key = try VerificationKey(
            .ellipticCurve(.p256, point: signing.point), algorithm: .es256)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let message = Array("message \(number)".utf8)
                    let signature = try signing.sign(message.span)
                    return try key.isValid(signature.span, of: message.span)
                }
            }
            for try await isValid in group { #expect(isValid) }
        }
    }
}
