import TestSupport
import Testing
import WatchwordCryptography

@testable import PasskeyVerification
@testable import Verification

/// Passkeys with keys that `openssl` generates.
@Suite("Algorithms of passkeys")
struct PasskeyAlgorithmTests {
    @Test(
        "K-28 K-31 K-36 a passkey of each algorithm signs in, and new passkeys need an enabled algorithm",
        arguments: SignatureAlgorithm.allCases)
    func each(algorithm: SignatureAlgorithm) async throws {
        let all = SignatureAlgorithm.allCases
        let bench = try PasskeyFixture(algorithms: all)
        let key = try await onOwnThread { try OpenSSLKey(algorithm) }
        let passkey = try TestPasskey(id: [1], key)
        try await bench.register(passkey)
        #expect(try await bench.signIn(passkey).isAccepted)
        var forged = passkey
        forged.signsOtherData = true
        #expect(try await bench.signIn(forged).denial == .signature)
        // A registered passkey keeps its algorithm when the server no longer offers it.
        let later = try bench.restarted(offering: all.filter { $0 != algorithm })
        #expect(try await later.signIn(passkey).isAccepted)
        let fresh = try TestPasskey(id: [2], key)
        #expect(try await later.finish(later.begun(), fresh) == .denied(.algorithm))
    }

    @Test("K-31 a signature with a different algorithm from that of the registration is denied")
    func changed() async throws {
        let bench = try PasskeyFixture(algorithms: SignatureAlgorithm.allCases)
        let pss = ["-sigopt", "rsa_padding_mode:pss"]
        let cases: [(SignatureAlgorithm, [(String, [String])])] = [
            (.es256, [("sha384", []), ("sha512", [])]), (.es384, [("sha256", [])]),
            (.rs256, [("sha384", []), ("sha512", []), ("sha1", []), ("sha256", pss)]),
        ]
        for (algorithm, signatures) in cases {
            let key = try await onOwnThread { try OpenSSLKey(algorithm) }
            let passkey = try TestPasskey(id: Array("\(algorithm)".utf8), key)
            try await bench.register(passkey)
            for (digest, options) in signatures {
                var changed = passkey
                changed.signer = { try key.sign($0, digest, options: options) }
                let denied = try await bench.signIn(changed)
                #expect(denied.denial == .signature, "\(algorithm) \(digest) \(options)")
            }
            // The id has a different key, for each of the other algorithms.
            for other in SignatureAlgorithm.allCases where other != algorithm {
                let foreign = try await onOwnThread { try OpenSSLKey(other) }
                let forged = try TestPasskey(id: passkey.id, foreign)
                #expect(
                    try await bench.signIn(forged).denial == .signature, "\(algorithm) \(other)")
            }
            #expect(try await bench.signIn(passkey).isAccepted)
        }
    }
}
