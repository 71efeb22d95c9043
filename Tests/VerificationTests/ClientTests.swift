import Cryptography
import TestSupport
import Testing

@testable import Verification

@Suite("Clients")
struct ClientTests {
    @Test("V-25 V-03 an API key tells its client until it is revoked; there is none at first")
    func keys() async throws {
        let bench = try TestBench()
        #expect(try await bench.verifier.clients() == [])
        let (client, key) = try #require(
            try await bench.verifier.addClient(
                named: "shop", scopes: ["verify", "enrol", "verify"]))
        #expect(client.scopes == ["enrol", "verify"])
        #expect(try await bench.verifier.client(presenting: key) == client)
        let other = Token(.clientKey, try Randomness.secret(count: 32))
        #expect(try await bench.verifier.client(presenting: other) == nil)
        #expect(!client.digest.contains(key.bytes.known[...]))
        #expect(try await bench.verifier.revokeClient(client.id) == .done)
        #expect(try await bench.verifier.revokeClient(client.id) == .done)
        #expect(try await bench.verifier.client(presenting: key) == nil)
        #expect(try await bench.verifier.clients().map(\.name) == ["shop"])
        #expect(try await bench.verifier.revokeClient([1]) == .unknown)
    }

    @Test("of fifty clients of one name that are added at once, one is")
    func names() async throws {
        let bench = try TestBench()
        for round in 1...3 {
            let added = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await bench.verifier.addClient(named: "shop", scopes: []) != nil
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(added == 1)
            let clients = try await bench.verifier.clients()
            #expect(clients.count == round)
            // A name is free again once its client is revoked.
            for client in clients { _ = try await bench.verifier.revokeClient(client.id) }
        }
    }

    @Test("a key outlasts a rotation of the others")
    func rotation() async throws {
        let bench = try TestBench()
        let (client, key) = try #require(
            try await bench.verifier.addClient(named: "shop", scopes: []))
        let first = try #require(KeyID(1))
        try await bench.keys.change { try $0.adding(makingCurrent: true).retiring(first) }
        #expect(try await bench.verifier.client(presenting: key)?.id == client.id)
    }
}
