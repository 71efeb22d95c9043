import Courier
import DeviceLogin
import Devices
import Foundation
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

/// Device keys in a TPM that cannot be opened or does not respond, with and without the agent.
@Suite(.serialized, .enabled(if: TPMTools.areInstalled, "needs swtpm and tpm2-tools"))
struct UnusableTPMTests {
    /// A device with an agent, a key in a TPM, and a server at which the key is registered.
    private struct Device {
        let agent: AgentFixture
        let server: KeyServer
        let tpm: EmulatedTPM
        /// The path of the program, in the agent's folder.
        let program: String

        /// - Parameter program: `bin/watchword`, with an agent that a file makes impatient.
        init(_ agent: AgentFixture, program: String = "watchword") throws {
            self.agent = agent
            self.program = program
            server = try KeyServer()
            tpm = try EmulatedTPM()
            if program != "watchword" {
                try agent.shell(
                    """
                    mkdir bin
                    built=$(dirname "$(command -v watchword)")
                    cp "$built/watchword" bin; cp "$built/suspending-agent" bin/watchword-agent
                    for name in courier token; do ln -s "$built/watchword-$name" bin; done
                    """)
            }
            try run(AgentFixture.unlock)
        }

        @discardableResult
        func run(_ arguments: String, status: Int32 = 0) throws -> ForeignProgram.Outcome {
            try agent.shell("\(program) \(arguments)", status: status)
        }

        func enrolment(_ more: String) throws -> String {
            let ticket = try server.ticket().text
            try agent.shell("umask 077; echo \(ticket) >ticket.txt")
            return "key enrol Mill:ann --server \(server.address) --ticket-file ticket.txt "
                + "--presence per-unlock \(more)"
        }

        /// Enrols a key in the TPM.
        func enrol() throws {
            try run(try enrolment("--custody tpm --tpm \(tpm.address)"))
        }

        /// Expects that nothing is signed, that this reason is reported, and that the vault is
        /// unchanged.
        func expectRefusal(_ address: String, _ reason: String, _ more: String = "") throws {
            let (signatures, before) = (try server.signatures(), try vault())
            let refused = try run("key present mill --tpm \(address)\(more)", status: 6)
            #expect(refused.text.isEmpty && AgentFixture.errors(refused).contains(reason))
            let isUnchanged = try vault() == before
            #expect(isUnchanged, "\(reason)")
            #expect(try server.signatures() == signatures)
        }

        /// Expects that the TPM signs, and that the agent serves other clients.
        func expectUsable() throws {
            try tpm.flush()
            let ticket = try run("key present mill --tpm \(tpm.address)").text
            #expect(try server.redeem(ticket)["custody"] == "tpm")
            #expect(try run("list --names").text == "Mill:ann\n")
        }

        func vault() throws -> [UInt8] { try agent.folder.bytes(of: AgentFixture.vault) }
    }

    @Test("K-79 a TPM that is busy, forbidden or missing signs nothing, and the message says why")
    func notOpened() throws {
        // The kernel lets root open a terminal that is in use, so the test needs an ordinary user.
        let device = try Device(AgentFixture([], asOrdinaryUser: true))
        let busy = try SilentDevice(isBusy: true)
        try device.agent.shell("touch forbidden; chmod 0 forbidden")
        let obstacles = [
            (busy.address, "the TPM is busy with another program; close it and try again"),
            ("device:\(device.agent.folder.file("forbidden"))", "no permission to open the TPM"),
            ("device:/nonexistent", "no TPM 2 was found"),
        ]
        // A busy TPM does not cause the key to be created elsewhere.
        let enrolment = try device.enrolment("--tpm \(busy.address)")
        for own in ["", " --passphrase-file pass.txt"] {
            let refused = try device.run(enrolment + own, status: 6)
            #expect(AgentFixture.errors(refused).contains("busy"))
            #expect(try device.run("list").text == "")
        }
        try device.enrol()
        for (address, reason) in obstacles {
            for own in ["", " --passphrase-file pass.txt"] {
                try device.expectRefusal(address, reason, own)
            }
        }
        try device.expectUsable()
    }

    @Test("K-79 a TPM or a helper process that hangs times out, and the agent serves others")
    func hanging() throws {
        let device = try Device(AgentFixture([]), program: "bin/watchword")
        try device.enrol()
        let silent = try HostileTPM(device.tpm, .silent, at: .sign)
        // Until the request times out, others are served, and locking the vault ends the request.
        let terminal = try device.agent.terminal(
            "key present mill --tpm \(silent.address)", program: "bin/watchword")
        #expect(silent.waitUntilHolding())
        #expect(try device.run("list --names").text == "Mill:ann\n")
        try device.run("lock")
        #expect(try terminal.end() == 4, "\(terminal.screen)")
        #expect(terminal.screen.contains("the agent has locked the vault"))
        try device.run(AgentFixture.unlock)
        try device.expectUsable()

        let late = "the TPM did not answer in time; try again"
        let mute = try SilentDevice()
        let impatient = ".local/share/watchword/impatient"
        try device.agent.shell("touch \(impatient)")
        try device.expectRefusal(silent.address, late)
        try device.expectRefusal(mute.address, late)
        try device.agent.shell("rm \(impatient)")
        try device.expectUsable()
        // The helper process sends no data at all, or none after its greeting.
        for greeting in ["", #"printf '\002\000\000\000\001\004'; "#] {
            let script = "#!/bin/sh\n\(greeting)exec sleep 600\n"
            try device.agent.folder.write(Array(script.utf8), to: "helper")
            try device.agent.shell(
                "chmod 755 helper; mv helper bin/watchword-token; touch \(impatient)")
            try device.expectRefusal(device.tpm.address, late)
            // The supervisor ends the helper process.
            let supervisor = try device.agent.supervisor()
            try device.agent.shell(
                "while ps -o args= --ppid \(supervisor) | grep -q 'sleep 600'; do :; done")
            try device.agent.shell(
                """
                ln -sf "$(dirname "$(command -v watchword)")/watchword-token" bin
                rm \(impatient)
                """)
            try device.expectUsable()
        }
    }

    private struct Nobody: TokenHelper.Person {
        func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? { nil }
        func touch(number: Int, of count: Int) {}
    }

    @Test("K-79 without the agent, a TPM that hangs times out in the same way")
    func hangingWithoutAgent() throws {
        let device = try Device(AgentFixture([]))
        try device.enrol()
        try device.run("lock")
        let silent = try HostileTPM(device.tpm, .silent, at: .sign)
        let mute = try SilentDevice()
        let vault = try Vault.unlock(
            at: device.agent.folder.file(AgentFixture.vault),
            with: AgentFixture.opener)
        let entry = try #require(vault.entries.first)
        let content = try vault.open(entry.id, proof: try vault.proofOfUnlocking(for: entry.id))
        let turn = try vault.takeLoginLock()
        let before = try device.vault()
        for text in [silent.address, mute.address] {
            let address = try #require(TPMAddress(text))
            let helper = try TokenHelper(
                path: BuiltProgram.path("watchword-token"), timeout: .milliseconds(500))
            let login = try KeyLogin(
                content, of: entry.id, in: vault, presence: .none,
                tpm: TPMAccess(address, through: helper))
            var courier = try HTTPHelper(path: BuiltProgram.path("watchword-courier"))
            var nobody = Nobody()
            do {
                _ = try login.signIn(turn: turn, over: &courier, asking: &nobody, now: 0)
                Issue.record("signed")
            } catch {
                #expect(error == .token(.timedOut))
            }
            try device.tpm.flush()
        }
        #expect(try device.server.signatures() == 0)
        let isUnchanged = try device.vault() == before
        #expect(isUnchanged)
    }
}

/// A terminal that replaces a TPM in a test, and never responds.
private final class SilentDevice {
    private let outside: Int32
    private let inside: Int32
    let address: String

    /// - Parameter isBusy: whether other programs cannot open the terminal, as the kernel reserves
    ///   a TPM for one program.
    init(isBusy: Bool = false) throws {
        var (outside, inside): (Int32, Int32) = (-1, -1)
        var settings = termios()
        unsafe cfmakeraw(&settings)
        let result = unsafe openpty(&outside, &inside, nil, &settings, nil)
        try #require(result == 0)
        (self.outside, self.inside) = (outside, inside)
        let path = unsafe ttyname(inside).map { unsafe String(cString: $0) }
        address = "device:\(try #require(path))"
        guard isBusy else { return }
        let isTaken = ioctl(inside, UInt(TIOCEXCL)) == 0
        try #require(isTaken)
        guard geteuid() == 0 else { return }
        let user = try #require(UInt32(AgentFixture.ordinaryUser))
        try #require(fchown(inside, user, 0) == 0)
    }

    deinit {
        close(inside)
        close(outside)
    }
}
