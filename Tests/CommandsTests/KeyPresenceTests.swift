import CommandLineInterface
import SecretVault
import Testing
import WatchwordCryptography

@testable import Commands

struct KeyPresenceTests {
    private func choice(_ options: [String]) throws -> CheckChoice {
        let words = ["key", "present", "mill"] + options
        guard case .run(_, let arguments) = try ArgumentParser<Verb>.parse(words) else {
            throw Unexpected()
        }
        return try Session(
            arguments: arguments, printer: Printer(program: Verb.program, isQuiet: true)
        ).checkChoice()
    }

    private struct Unexpected: Error {}

    @Test(
        "without the agent, a key states its check: a check by PAM is never cryptographic",
        arguments: [
            (.perUse(.pam), [], .advisory), (.perUse(.passphrase), [], .cryptographic),
            (.perUse(.any), ["--presence-check", "pam"], .advisory),
            (.perUse(.any), ["--presence-check", "passphrase"], .cryptographic),
            // Unlocking the vault required the passphrase.
            (.perUnlock, ["--presence-check", "pam"], .cryptographic),
        ] as [(AccessControl.Presence, [String], DeviceKeyTranscript.Presence)])
    func presence(
        _ presence: AccessControl.Presence, options: [String],
        expected: DeviceKeyTranscript.Presence
    ) throws {
        let access = AccessControl(presence: presence, onFailure: .lockOut)
        let said = try choice(options).keyPresence(under: access, unlockingProvesPresence: true)
        #expect(said == expected)
        // A TPM without a PIN opened the vault, so no person was asked.
        let unasked = try choice(options).keyPresence(under: access, unlockingProvesPresence: false)
        #expect(unasked == (presence.isPerUse ? expected : .none))
    }
}
