import ServiceTranscripts
import TestSupport
import Testing
import WatchwordCryptography

/// Passkeys with keys that `openssl` makes, over HTTP and on both kinds of database.
struct PasskeyAlgorithmTests {
    @Test(
        "K-28 K-31 K-36 over HTTP, a passkey of each algorithm signs in, and new ones are refused where it is not enabled",
        arguments: PasskeyServer.Database.possible)
    func each(database: PasskeyServer.Database) async throws {
        let all = SignatureAlgorithm.allCases
        let server = try await PasskeyServer(database, passkeys: .forTests(algorithms: all))
        for (number, algorithm) in all.enumerated() {
            let key = try await onOwnThread { try OpenSSLKey(algorithm) }
            let passkey = try TestPasskey(id: [1, UInt8(number)], key)
            try await server.driver.register(passkey)
            #expect(try await server.driver.signIn(passkey).result == "accepted", "\(algorithm)")
            var forged = passkey
            forged.signsOtherData = true
            #expect(try await server.driver.signIn(forged).reason == "signature", "\(algorithm)")
            // A registered passkey keeps its algorithm when the server no longer offers it.
            let others = all.filter { $0 != algorithm }
            let later = try server.restarted(with: .forTests(algorithms: others))
            #expect(try await later.driver.signIn(passkey).result == "accepted", "\(algorithm)")
            let fresh = try TestPasskey(id: [2, UInt8(number)], key)
            let denied = try await later.driver.finish(try await later.driver.begin(), fresh)
            #expect(denied.reason == "algorithm", "\(algorithm)")
            await later.stop()
        }
        await server.stop()
    }

    @Test(
        "K-31 over HTTP, a signature by another algorithm than at the registration is denied",
        arguments: PasskeyServer.Database.possible)
    func changed(database: PasskeyServer.Database) async throws {
        let server = try await PasskeyServer(
            database, passkeys: .forTests(algorithms: SignatureAlgorithm.allCases))
        let pss = ["-sigopt", "rsa_padding_mode:pss"]
        let cases: [(SignatureAlgorithm, [(String, [String])])] = [
            (.es256, [("sha384", []), ("sha512", [])]), (.es384, [("sha256", [])]),
            (.rs256, [("sha384", []), ("sha512", []), ("sha1", []), ("sha256", pss)]),
        ]
        for (algorithm, signatures) in cases {
            let key = try await onOwnThread { try OpenSSLKey(algorithm) }
            let passkey = try TestPasskey(id: Array("\(algorithm)".utf8), key)
            try await server.driver.register(passkey)
            for (digest, options) in signatures {
                var changed = passkey
                changed.signer = { try key.sign($0, digest, options: options) }
                let denied = try await server.driver.signIn(changed)
                #expect(denied.reason == "signature", "\(algorithm) \(digest) \(options)")
            }
            // Another key for the same id, with each of the other algorithms.
            for other in SignatureAlgorithm.allCases where other != algorithm {
                let foreign = try await onOwnThread { try OpenSSLKey(other) }
                let forged = try TestPasskey(id: passkey.id, foreign)
                let denied = try await server.driver.signIn(forged)
                #expect(denied.reason == "signature", "\(algorithm) \(other)")
            }
            #expect(try await server.driver.signIn(passkey).result == "accepted")
        }
        await server.stop()
    }
}
