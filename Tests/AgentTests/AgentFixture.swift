import Foundation
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Agent
@testable import VaultService

/// A vault, and an agent that belongs to the test; the agent ends when the last reference is
/// released.
final class AgentFixture {
    let folder: TemporaryFolder

    static let passphrase = "correct-horse-battery"
    static let opener = VaultOpener.passphrase(SecretBytes(text: passphrase))
    /// The key of each one-time password.
    static let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    static let vault = ".local/share/watchword/vault"
    static let unlock = "unlock --passphrase-file pass.txt"

    /// A user without privileges, for a test that runs as root: root can read every process.
    static let ordinaryUser = "12345"
    private let isOrdinaryUser: Bool

    /// Creates the vault, and adds entries; each string has the arguments of `watchword add -q`.
    ///
    /// - Parameter asOrdinaryUser: whether all programs run as a user without privileges.
    init(
        _ entries: [String] = ["Site:me --secret-file key.txt"], asOrdinaryUser: Bool = false
    ) throws {
        isOrdinaryUser = asOrdinaryUser && geteuid() == 0
        folder = try TemporaryFolder()
        try folder.write(Array((Self.passphrase + "\n").utf8), to: "pass.txt")
        try folder.write(Array((Self.key + "\n").utf8), to: "key.txt")
        if isOrdinaryUser {
            let chown = try ForeignProgram(path: "/usr/bin/chown").run([
                "-R", Self.ordinaryUser, folder.path,
            ])
            #expect(chown.status == 0)
        }
        try shell("mkdir -m 700 run")
        try run("init -q --scrypt-log-n 10 --passphrase-file pass.txt --no-recovery-key")
        for entry in entries { try run("add -q \(entry) --passphrase-file pass.txt") }
    }

    deinit {
        do { try run("agent stop") } catch {}
    }

    private static let programs = URL(filePath: BuiltProgram.path("watchword"))
        .deletingLastPathComponent().path

    /// Runs `watchword` with these arguments, without a terminal, and expects `status`.
    @discardableResult
    func run(_ arguments: String, status: Int32 = 0) throws -> ForeignProgram.Outcome {
        try shell("watchword " + arguments, status: status)
    }

    /// Runs a shell command without a terminal and expects `status`.
    @discardableResult
    func shell(_ command: String, status: Int32 = 0) throws -> ForeignProgram.Outcome {
        let user =
            isOrdinaryUser
            ? ["setpriv", "--reuid", Self.ordinaryUser, "--clear-groups", "--"] : []
        // Start a new session, which has no controlling terminal.
        let outcome = try ForeignProgram(path: "/usr/bin/setsid").run(
            ["--wait"] + user + ["/bin/sh", "-c", "cd '\(folder.path)'\n\(command)"],
            environment: [
                "PATH": "\(Self.programs):/usr/bin:/bin", "HOME": folder.path,
                "LC_ALL": "C.UTF-8", "XDG_RUNTIME_DIR": folder.file("run"),
                "WATCHWORD_CLOCK_WARNING": "off",
            ])
        let errors = String(decoding: outcome.errors, as: UTF8.self)
        #expect(outcome.status == status, "\(command)\n\(outcome.text)\(errors)")
        return outcome
    }

    /// Runs shell commands at the same time, and ignores their statuses.
    ///
    /// - Returns: their output.
    @discardableResult
    func together(_ commands: [String]) throws -> String {
        let lines = commands.map { $0 + "\n" }.joined()
        try folder.write(Array(lines.utf8), to: "commands")
        // The shell's own `wait` needs SIGCHLD, which this process blocks.
        return try shell("xargs -d '\\n' -P 99 -I{} sh -c '{}' <commands || true").text
    }

    /// Runs `watchword` on a terminal.
    func terminal(
        _ arguments: String, program: String = "watchword"
    ) throws -> PseudoTerminal {
        try PseudoTerminal(
            "\(program) \(arguments)", in: folder,
            environment: [
                "XDG_RUNTIME_DIR": folder.file("run"), "WATCHWORD_CLOCK_WARNING": "off",
            ])
    }

    /// A connection from the test process itself.
    func client() throws -> AgentClient {
        let path = folder.file("run/watchword/agent.sock")
        return AgentClient(FrameConnection(try LocalSocket.connect(to: path)))
    }

    /// Copies the programs to `bin`, with a `watchword-presence` that uses the PAM modules set by
    /// ``configure(_:)``.
    func installModules() throws {
        // The agent looks for the helper beside its own real file.
        try shell(
            """
            mkdir bin bin/pam.d
            for name in watchword watchword-agent; do cp "$(command -v $name)" bin; done
            ln -s "$(dirname "$(command -v watchword)")/StackedPresence" bin/watchword-presence
            """)
    }

    /// Writes a program `pinentry` to `fake`, which records each command in `log`, and answers
    /// GETPIN with the next of `answers`, in which `\n` separates lines of the protocol.
    func installPinEntry(_ answers: [String], greeting: String = "OK hello") throws {
        let program = """
            #!/bin/sh
            printf '%b\\n' '\(greeting)'
            while read -r line; do
                echo "$line" >>log
                case $line in
                    GETPIN) printf '%b\\n' "$(head -n 1 answers)"; sed -i 1d answers ;;
                    *) echo 'S note'; echo '# comment'; echo OK ;;
                esac
            done

            """
        try shell("mkdir fake; touch log")
        try folder.addProgram(program, as: "fake/pinentry")
        try folder.write(Array(answers.map { $0 + "\n" }.joined().utf8), to: "answers")
    }

    /// The prefix of a command that runs without a terminal, on a desktop with that `pinentry`.
    static let desktop = "PATH=$PWD/fake:$PATH DISPLAY=:9"

    func configure(_ authentication: String) throws {
        let lines = "auth \(authentication)\naccount required pam_permit.so\n"
        try folder.write(Array(lines.utf8), to: "bin/pam.d/watchword")
    }

    /// Replaces the first secret in the vault with a tombstone, without the key.
    func forgeTombstone() throws {
        try shell(
            """
            awk '/^end /{next} /^changes /{$2 = 1} \
              /^sealed / && !found {found = 1; $0 = "tombstone " $2 " 1700000000 failures"} {print}' \
              \(Self.vault) > forged.txt
            echo "end $(openssl dgst -sha256 -binary forged.txt | base64)" >> forged.txt
            cat forged.txt > \(Self.vault)
            """)
    }

    /// The place of the vault.
    func place() throws -> VaultPlace { try VaultPlace(at: folder.file(Self.vault)) }

    /// The listing of the vault on a connection from the test.
    func listing(_ client: AgentClient, of place: VaultPlace) throws -> VaultListing {
        guard case .listing(let listing) = try client.send(.list(place)) else {
            throw AgentFailure.malformed
        }
        return listing
    }

    /// The process that holds the keys.
    func keyHolder() throws -> Int32 {
        let status = try run("agent status --json").text
        let digits = status.components(separatedBy: "\"pid\":").last?.prefix { $0.isNumber }
        return try #require(digits.flatMap { Int32($0) })
    }

    /// The process that started the key holder, and that starts the helper processes.
    func supervisor() throws -> Int32 {
        let text = try shell("ps -o ppid= -p \(keyHolder())").text
        return try #require(Int32(text.filter(\.isNumber)))
    }

    /// Expects that other programs of the user can neither read, trace nor dump a process.
    func expectProtected(_ process: Int32, _ name: Comment) throws {
        for file in ["mem", "maps", "environ", "fd/0", "auxv"] {
            let outcome = try shell("head -c 1 /proc/\(process)/\(file)", status: 1)
            #expect(Self.errors(outcome).contains("Permission denied"), name)
        }
        if ForeignProgram.canTrace {
            let traced = try shell("strace -p \(process)", status: 1)
            #expect(Self.errors(traced).contains("Operation not permitted"), name)
        }
        let limits = try shell("grep 'Max core file size' /proc/\(process)/limits").text
        #expect(limits.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], name)
    }

    /// The text that a program wrote to standard error.
    static func errors(_ outcome: ForeignProgram.Outcome) -> String {
        String(decoding: outcome.errors, as: UTF8.self)
    }
}

extension EntryRevision {
    /// A change after which using the entry no longer requires a check.
    static func withoutChecks(of entry: EntrySummary) -> EntryRevision {
        var revision = EntryRevision(of: entry)
        revision.access = AccessControlChange(presence: .perUnlock)
        return revision
    }
}

/// A test's agent, and a user of that agent.
protocol TestedAgent {
    /// Runs `watchword` without a terminal, and expects `status`.
    @discardableResult
    func run(_ arguments: String, status: Int32) throws -> ForeignProgram.Outcome
    /// Runs `watchword` on a terminal.
    func terminal(_ arguments: String) throws -> PseudoTerminal
}

extension AgentFixture: TestedAgent {
    func terminal(_ arguments: String) throws -> PseudoTerminal {
        try terminal(arguments, program: "watchword")
    }
}

extension TestedAgent {
    /// Runs `watchword` on a terminal, answers one question, and expects `status`.
    ///
    /// - Returns: the screen.
    func answering(
        _ question: String, _ answer: String, _ arguments: String, status: Int32 = 0
    ) throws -> String {
        let terminal = try terminal(arguments)
        try terminal.waitFor(question)
        try terminal.type(answer + "\n")
        #expect(try terminal.end() == status, "\(arguments)")
        return terminal.screen
    }

    /// Runs `watchword` on a terminal, enters the passphrase, and expects `status`.
    func enteringPassphrase(_ arguments: String, status: Int32 = 0) throws -> String {
        try answering("Passphrase: ", AgentFixture.passphrase, arguments, status: status)
    }

    /// Expects that commands show these texts only after the passphrase, although the vault is
    /// unlocked.
    func expectPassphraseEachTime(_ commands: [(command: String, found: String)]) throws {
        for (command, found) in commands {
            for _ in 0..<2 {
                #expect(try enteringPassphrase(command).contains(found), "\(command)")
            }
            // Without a terminal, no question can be asked.
            #expect(try run(command, status: 4).text == "")
            let wrong = try terminal(command)
            for _ in 0..<3 {
                try wrong.waitFor("Passphrase: ")
                wrong.clear()
                try wrong.type("guess\n")
            }
            #expect(try wrong.end() == 4)
            for secret in [found, AgentFixture.key] { #expect(!wrong.screen.contains(secret)) }
            try run(AgentFixture.unlock, status: 0)
        }
    }
}

extension AgentServices {
    /// The services of an agent in this process, which has no supervisor.
    init(
        holding vaults: HeldVaults = HeldVaults(clock: AgentClock.now), for reach: ClientReach
    ) throws {
        self.init(
            vaults: vaults, reach: reach, limitsFiles: false,
            helpers: HelperChannel(try SocketPair().takeFirst()), stop: try WakeSignal())
    }
}

extension VaultPlace {
    /// The same path with the identity of another folder, as a dishonest client would send it.
    func claiming(_ other: FolderIdentity) -> VaultPlace {
        VaultPlace(folder: other, name: name, path: path)
    }
}
