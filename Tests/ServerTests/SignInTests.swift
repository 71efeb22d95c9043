import Foundation
import TestSupport
import Testing

/// The installed programs `watchword login` and `watchword-server`, over TLS with the test's own
/// authority.
@Suite(.serialized) struct SignInTests {
    @Test(
        "R-01 a device enrols, signs in with rotation, and is revoked; the application learns the subject"
    )
    func wholeLife() async throws {
        let harness = try await LoginHarness()
        let server = try await harness.server()
        let facts = try await harness.ticket()
        let enrolled = try await harness.enrol(server.port)
        #expect(enrolled.status == 0, "\(enrolled.words)")
        var tickets: Set<String> = []
        for _ in 0..<3 {
            let present = try await harness.present()
            #expect(present.status == 0, "\(present.words)")
            tickets.insert(present.text)
            #expect(try await harness.redeem(present.text) == "alice")
            #expect(try await harness.redeem(present.text) == nil)
        }
        #expect(tickets.count == 3)
        let status = try await harness.run("--json", "login", "status", "mill").text
        #expect(status.contains("\"generation\":2") && status.contains("\"state\":\"ready\""))
        #expect(status.contains("\"server\":\"https://localhost:\(server.port)\""))

        let credential = try #require(facts["credential"])
        let revoked = try await Asker(harness.application.port, key: harness.key).ask(
            "DELETE", "/v1/credentials/\(credential)")
        #expect(revoked?.status == 204)
        let refused = try await harness.present()
        #expect(refused.status == 5 && refused.words.contains("the server revoked it"))
        let wiped = try await harness.run("--json", "login", "status", "mill").text
        #expect(
            wiped.contains("\"state\":\"wiped\"") && wiped.contains("\"reason\":\"revoked\""))

        // A new enrolment replaces the tombstone; then the owner removes it.
        try await harness.ticket()
        #expect(try await harness.enrol(server.port).status == 0)
        #expect(try await harness.present().status == 0)
        #expect(try await harness.run("login", "wipe", "mill", "--yes").status == 0)
        #expect(try await harness.run("list").text == "")
        #expect(try await server.stop() == 0)
        try await harness.application.stop()
    }

    @Test("R-04 the next use of a thief's copy is detected, and both holders' secrets are wiped")
    func thief() async throws {
        let harness = try await LoginHarness()
        let server = try await harness.server()
        try await harness.ticket()
        #expect(try await harness.enrol(server.port).status == 0)
        #expect(try await harness.present().status == 0)
        let copy = try harness.folder.bytes(of: "vault")
        // The owner's next use retires the secret in the copy.
        #expect(try await harness.present().status == 0)
        let owners = try harness.folder.bytes(of: "vault")
        // The generation mark would reveal an older file, but the thief does not have it.
        try removeFile(harness.folder.file(".watchword"))
        try harness.folder.write(copy, to: "vault")
        try setMode(0o600, of: harness.folder.file("vault"))
        let thief = try await harness.present()
        #expect(thief.status == 5 && thief.words.contains("reuse was detected"), "\(thief.words)")
        // The owner's machine has its own vault and not the thief's generation mark.
        try removeFile(harness.folder.file(".watchword"))
        try harness.folder.write(owners, to: "vault")
        try setMode(0o600, of: harness.folder.file("vault"))
        let owner = try await harness.present()
        #expect(owner.status == 5 && owner.words.contains("reuse was detected"), "\(owner.words)")
        try await server.stop()
        try await harness.application.stop()
    }

    @Test(
        "the device sends nothing to a server with a wrong certificate",
        arguments: [("other-host", "a different host"), ("self-made", "unknown authority")])
    func wrongCertificate(certificate: String, words: String) async throws {
        let harness = try await LoginHarness()
        let server = try await harness.server(certificate)
        try await harness.ticket()
        let refused = try await harness.enrol(server.port)
        #expect(refused.status == 6 && refused.words.contains(words), "\(refused.words)")
        #expect(refused.words.contains("nothing was sent"))
        #expect(try !server.logged().contains("/v1/device"))
        #expect(try await harness.run("list").text == "")
        // The ticket is still unspent.
        let good = try await harness.server()
        #expect(try await harness.enrol(good.port).status == 0)
        for server in [server, good, harness.application] { try await server.stop() }
    }

    @Test("the device refuses a certificate that expires while the server runs")
    func expired() async throws {
        let harness = try await LoginHarness()
        try await harness.ticket()
        var life = 4
        var served: ServerProcess?
        var certificates: TemporaryFolder?
        // On a busy machine, the first certificates may expire before they are used.
        while served == nil, life < 200 {
            let made = try TestCertificates.make(brief: life)
            certificates = made
            do {
                served = try await harness.server("brief", of: made)
            } catch ServerProcess.Failure.notListening { life *= 2 }
        }
        let server = try #require(served)
        let folder = try #require(certificates)
        try harness.folder.write(try folder.bytes(of: "authority.pem"), to: "ca.pem")
        // Wait until the certificate has expired.
        try await Task.sleep(for: .seconds(life + 1))
        let refused = try await harness.enrol(server.port)
        #expect(refused.status == 6 && refused.words.contains("has expired"), "\(refused.words)")
        #expect(try !server.logged().contains("/v1/device"))
        try await server.stop()
        try await harness.application.stop()
    }

    @Test("enrolling again with the same ticket succeeds; with a different name, it is refused")
    func sameTicket() async throws {
        let harness = try await LoginHarness()
        let server = try await harness.server()
        try await harness.ticket()
        #expect(try await harness.enrol(server.port).status == 0)
        #expect(try await harness.enrol(server.port).status == 0)
        #expect(try await harness.present().status == 0)
        let other = try await harness.run(
            "login", "enrol", "Mill:alice", "--server", "https://localhost:\(server.port)",
            "--ticket-file", harness.folder.file("ticket.txt"), "--ca-file",
            harness.folder.file("ca.pem"), "--device-name", "attic")
        #expect(other.status == 5 && other.words.contains("--device-name"), "\(other.words)")
        // The stored entry is unchanged.
        #expect(try await harness.present().status == 0)
        try await server.stop()
        try await harness.application.stop()
    }
}
