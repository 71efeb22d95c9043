import Foundation
import TestSupport
import Testing

/// Unlocking the vault in the agent with a device.
@Suite(.serialized)
struct AgentDeviceTests {
    private let agent: AgentFixture

    /// A vault, and programs with a helper that simulates an authenticator with the PIN 1234.
    init() throws {
        agent = try AgentFixture([
            "Site:me --secret-file key.txt",
            "Bank:me --presence per-use:passphrase --secret-file key.txt",
        ])
        try agent.installModules()
        try agent.shell(
            """
            cp "$(dirname "$(command -v watchword)")/software-authenticator" bin/watchword-token
            printf 'seed one\\npin 1234\\n' >bin/authenticator
            echo 1234 >pin.txt
            bin/watchword slot add -q fido2 --pin-file pin.txt --passphrase-file pass.txt
            """)
    }

    @Test("a device unlocks the vault for all commands; a wrong PIN does not")
    func unlock() throws {
        try agent.shell("echo 9999 >wrong.txt")
        let refused = try agent.shell(
            "bin/watchword unlock --unlock-with fido2 --pin-file wrong.txt", status: 4)
        #expect(AgentFixture.errors(refused).contains("wrong PIN"))
        try agent.shell("bin/watchword code Site --at 59", status: 4)
        let unlocked = try agent.shell(
            "bin/watchword unlock --unlock-with fido2 --pin-file pin.txt")
        #expect(
            AgentFixture.errors(unlocked).contains("Touch the authenticator.\nUnlocked the vault.")
        )
        // The authenticator is gone, but the agent has the vault's key.
        try agent.shell("mv bin/authenticator away")
        #expect(try agent.shell("bin/watchword code Site --at 59").text == "287082\n")
        try agent.shell("bin/watchword code Bank --at 59", status: 4)
        try agent.shell("mv away bin/authenticator; bin/watchword lock")
        try agent.shell("bin/watchword code Site --at 59", status: 4)
    }
}
