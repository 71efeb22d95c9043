import ServiceTranscripts
import TestSupport
import Testing
import WatchwordCoding

/// A device's evidence about its key in a TPM, over HTTP and with both kinds of database.
struct DeviceKeyEvidenceTests {
    private struct Case: Sendable {
        let name: String
        /// The reason in the event, which the application reads.
        let reason: String
        let change: @Sendable (inout TestEvidence, _ otherTicket: String) -> Void

        init(
            _ name: String, _ reason: String,
            _ change: @escaping @Sendable (inout TestEvidence, _ otherTicket: String) -> Void
        ) {
            self.name = name
            self.reason = reason
            self.change = change
        }

        static func key(_ name: String, _ attributes: UInt32) -> Case {
            Case("a key \(name)", "keyAttributes") { evidence, _ in
                evidence.keyAttributes = attributes
            }
        }

        static func attestationKey(_ name: String, _ attributes: UInt32) -> Case {
            Case("an attestation key \(name)", "attestationKey") { evidence, _ in
                evidence.attestationAttributes = attributes
            }
        }
    }

    private static let cases: [Case] = [
        .key("without fixedTPM", 0x0004_0470), .key("without fixedParent", 0x0004_0462),
        .key("without sensitiveDataOrigin", 0x0004_0452),
        .key("that is restricted", 0x0005_0472), .key("that decrypts", 0x0006_0472),
        .key("with adminWithPolicy", 0x0004_04f2),
        .attestationKey("that is not restricted", 0x0004_0072),
        .attestationKey("without fixedTPM", 0x0005_0070),
        .attestationKey("without sensitiveDataOrigin", 0x0005_0052),
        .attestationKey("that decrypts", 0x0007_0072),
        Case("certified for another ticket", "certification") { $0.certifiedTicket = $1 },
        Case("certified for another server", "certification") { evidence, _ in
            evidence.certifiedAudience = "https://other.example"
        },
        Case("certified with other attributes", "certification") { evidence, _ in
            evidence.certifiedAttributes = 0x0004_0470
        },
        Case("certified by no TPM", "attestationObject") { evidence, _ in
            evidence.magic[0] = 0xfe
        },
        Case("another kind of statement", "attestationObject") { evidence, _ in
            evidence.magic[5] = 0x18
        },
    ]

    @Test(
        "K-78 over HTTP, a key or an attestation key with different attributes, or certified for a different ticket, is refused",
        arguments: PasskeyServer.Database.possible)
    func attributes(database: PasskeyServer.Database) async throws {
        let server = try await PasskeyServer(database, tpmRoots: try TestEvidence.root())
        let driver = server.driver
        for (number, instance) in Self.cases.enumerated() {
            let good = try TestEvidence()
            var changed = good
            let ticket = try await driver.keyTicket(for: "s\(number)")
            // The second ticket is for the same subject and the same key.
            let other = try await driver.keyTicket(for: "s\(number)")
            instance.change(&changed, other)
            // The first denial in a minute is written at once.
            server.fixture.clock.advance(seconds: 60)
            let refused = try await driver.registerKey(changed.registration(ticket))
            #expect(refused.status == 403, "\(instance.name)")
            let events = try await server.ask("GET", "/v1/events?limit=1000").json?["events"]
            let event = try #require(events?.elements?.last)
            #expect(
                event["kind"]?.string == "denied" && event["subject"]?.string == "s\(number)"
                    && event["credential"] != nil && event["reason"]?.string == instance.reason,
                "\(instance.name)")
            let pending = try await driver.registerKey(good.registration(ticket))
            #expect(pending.status == 201, "beside \(instance.name)")
            #expect(pending.text("state") == "pending", "beside \(instance.name)")
        }
        let foreign = try await driver.keyTicket(for: "mallory")
        var other = try TestEvidence()
        // The attributes for a PIN, with protection from dictionary attacks.
        other.keyAttributes = 0x0004_0072
        #expect(try await driver.registerKey(other.registration(foreign)).status == 201)
        await server.stop()
    }
}
