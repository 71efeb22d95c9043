import Foundation
import SecretVault
import TestSupport
import Testing

/// The path of the PAM module that uses fprintd.
private enum FingerprintModule {
    static let isInstalled: Bool = {
        do {
            return try ForeignProgram(path: "/bin/sh").run([
                "-c", "ls /usr/lib/*/security/pam_fprintd.so",
            ]).status == 0
        } catch {
            return false
        }
    }()
}

/// Checks by fingerprint: pam_fprintd in `watchword-presence`, with an fprintd that belongs to the
/// test.
@Suite(
    .serialized, .enabled(if: PrivateBus.isPossible, PrivateBus.requirement),
    .enabled(
        if: FingerprintModule.isInstalled, "pam_fprintd.so is missing (package libpam-fprintd)"))
struct FingerprintTests {
    private static let service = "net.reactivated.Fprint"
    private static let module = "required pam_fprintd.so timeout=10"
    private static let prompt = "Place your finger on the fingerprint reader"
    private static let template = PackageFolder.root.appending(
        path: "Tests/FingerprintReader/fingerprint_reader.py"
    ).path

    /// An unlocked vault with an entry that a fingerprint protects.
    private final class Machine {
        let agent: AgentFixture
        let bus: PrivateBus

        init() throws {
            agent = try AgentFixture(["Bank:me --presence per-use:pam --secret-file key.txt"])
            bus = PrivateBus(in: agent.folder)
            try bus.start()
            try agent.installModules()
            try agent.configure(module)
            try agent.folder.write(
                Array("DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)\n".utf8), to: "bin/environment")
            try agent.shell("bin/watchword unlock --passphrase-file pass.txt")
        }

        /// Starts fprintd, and returns its process.
        @discardableResult
        func startReader(_ parameters: [String: String]) throws -> String {
            try bus.play(template, parameters, as: service)
        }

        func terminal(_ options: String = "") throws -> PseudoTerminal {
            try agent.terminal("code Bank --at 59 \(options)", program: "bin/watchword")
        }
    }

    @Test(
        "a finger that matches permits one use, and a different finger does not",
        arguments: ["", "--no-agent --passphrase-file pass.txt"])
    func scans(options: String) throws {
        let machine = try Machine()
        // The module allows three scans for each check.
        try machine.startReader([
            "scans": "verify-match verify-no-match verify-match verify-no-match"
        ])
        for (scans, refused) in [(1, 0), (2, 1)] {
            let permitted = try machine.terminal(options)
            #expect(try permitted.end() == 0)
            let parts = permitted.screen.components(separatedBy: Self.prompt)
            #expect(parts.count == scans + 1)
            #expect(
                permitted.screen.components(separatedBy: "Failed to match").count == refused + 1)
            #expect(permitted.screen.contains("287082"))
        }
        let denied = try machine.terminal(options)
        #expect(try denied.end() == 4)
        #expect(denied.screen.components(separatedBy: "Failed to match").count == 4)
        let left = LockOutPolicy.firstFailureWithWait - 1
        #expect(denied.screen.contains("you will be locked out of it after \(left) more failures"))
        #expect(!denied.screen.contains("287082"))
    }

    @Test(
        "without a service, reader or enrolled finger, no code is issued and no failure counted",
        arguments: [nil, [:], ["scans": "verify-match", "fingers": ""]] as [[String: String]?])
    func absent(parameters: [String: String]?) throws {
        let machine = try Machine()
        let process = try parameters.map(machine.startReader)
        // The number of attempts exceeds the failures allowed.
        for _ in 0...LockOutPolicy.firstFailureWithWait {
            let refused = try machine.terminal()
            #expect(try refused.end() == 4)
            #expect(refused.screen.contains("PAM could not complete the check"))
            #expect(!refused.screen.contains("287082") && !refused.screen.contains("locked"))
        }
        if let process { try machine.agent.shell("kill \(process)") }
        try machine.bus.wait("! \(machine.bus.hasService(Self.service))")
        try machine.startReader(["scans": "verify-match"])
        let permitted = try machine.terminal()
        #expect(try permitted.end() == 0)
    }

    @Test("a service or a reader that disappears during the scan ends the check without a code")
    func disappears() throws {
        let machine = try Machine()
        let process = try machine.startReader(["scans": "none"])
        let killed = try machine.terminal()
        try killed.waitFor(Self.prompt)
        try machine.agent.shell("kill \(process)")
        #expect(try killed.end() == 4)
        #expect(killed.screen.contains("check that it is connected"))
        #expect(!killed.screen.contains("287082"))
        try machine.bus.wait("! \(machine.bus.hasService(Self.service))")
        try machine.startReader(["scans": "verify-disconnected verify-match"])
        let unplugged = try machine.terminal()
        #expect(try unplugged.end() == 4)
        #expect(!unplugged.screen.contains("287082"))
        #expect(try machine.terminal().end() == 0)
    }

    @Test("a scan without a finger ends at the module's timeout")
    func nobody() throws {
        let machine = try Machine()
        try machine.startReader(["scans": "none"])
        let waiting = try machine.terminal()
        #expect(try waiting.end() == 4)
        #expect(waiting.screen.contains("Verification timed out"))
        #expect(!waiting.screen.contains("287082"))
    }

    @Test(
        "the system agent does not ask fprintd to scan for a user who is not at the machine",
        .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
    func systemAgent() throws {
        let agent = try SystemAgentFixture()
        let bus = PrivateBus(in: agent.folder)
        try bus.start()
        try bus.play(
            Self.template, ["scans": "verify-match", "user": "games"], as: Self.service)
        try agent.folder.write(
            Array("DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)\n".utf8), to: "bin/environment")
        try agent.configure(Self.module)
        for user in [SystemAgentFixture.User.games, .man] {
            try agent.keep(["Bank:me --presence per-use:pam"], of: user)
            try agent.run("unlock --passphrase-file pass.txt", as: user)
        }
        // The first user has an enrolled finger, but the login manager reports no seat for either
        // user.
        for user in [SystemAgentFixture.User.games, .man] {
            let refused = try agent.terminal("code Bank --at 59", as: user)
            #expect(try refused.end() == 4)
            #expect(!refused.screen.contains(Self.prompt) && !refused.screen.contains("287082"))
        }
    }
}
