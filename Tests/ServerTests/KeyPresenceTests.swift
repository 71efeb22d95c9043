import Foundation
import TestSupport
import Testing

/// The presence check in a device key's registration, and the server's requirement.
struct KeyPresenceTests {
    @Test("the server denies a key whose presence check is weaker than required")
    func presence() async throws {
        let harness = try await LoginHarness()
        let server = try await harness.keyServer()
        try await harness.ticket(#"{"type":"key","presence":"enforced"}"#)
        let refused = try await harness.run(harness.keyEnrolment)
        #expect(refused.status == 5 && refused.words.contains("stronger presence check"))
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }

    @Test(
        "a registration states no presence check if a TPM without a PIN opened the vault",
        .enabled(if: EmulatedTPM.isInstalled, "swtpm is not installed"))
    func unprovenPresence() async throws {
        let harness = try await LoginHarness()
        let server = try await harness.keyServer()
        let tpm = try EmulatedTPM()
        let device = ["--tpm", tpm.address]
        let added = try await harness.run(["slot", "add", "tpm2", "--no-pin"] + device)
        #expect(added.status == 0, "\(added.words)")
        try await harness.ticket(#"{"type":"key","presence":"cryptographic"}"#)
        let enrolment = harness.keyEnrolment + ["--custody", "vault"] + device
        let program = BuiltProgram.path("watchword")
        let environment = harness.environment
        let refused = try await onOwnThread {
            try ForeignProgram(path: program).run(
                enrolment + ["--unlock-with", "tpm2"], environment: environment)
        }
        #expect(refused.status == 5, "\(refused.words)")
        #expect(refused.words.contains("stronger presence check"), "\(refused.words)")
        // The passphrase proves presence.
        try await harness.ticket(#"{"type":"key","presence":"cryptographic"}"#)
        let accepted = try await harness.run(enrolment)
        #expect(accepted.status == 0, "\(accepted.words)")
        for server in [server, harness.application] { #expect(try await server.stop() == 0) }
    }
}
