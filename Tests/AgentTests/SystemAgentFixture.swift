import Foundation
import TestSupport
import Testing
import VaultService
import WatchwordSystem

/// A system agent that belongs to the test, and users of it.
///
/// Every process runs as a separate user, so the test must run as root. Clients see the agent's
/// socket at its usual path, in a separate mount namespace.
final class SystemAgentFixture {
    let folder: TemporaryFolder
    /// The process that starts as the launcher and then becomes the agent's supervisor.
    private(set) var supervisor: Int32

    /// Users of every Debian system who own no files.
    enum User: String {
        case games, man, proxy, root
        /// A user that is not in the user database.
        case nameless = "54321"
        /// The user as whom the agent runs.
        case agent = "irc"

        /// The static user ID on Debian.
        var id: Int {
            switch self {
            case .games: 5
            case .man: 6
            case .proxy: 13
            case .root: 0
            case .nameless: 54321
            case .agent: 39
            }
        }
    }

    /// Whether this process can start programs as other users, and systemd's launcher is installed.
    static let isPossible: Bool = {
        guard geteuid() == 0, ForeignProgram("systemd-socket-activate") != nil,
            let unshare = ForeignProgram("unshare")
        else { return false }
        do { return try unshare.run(["-m", "true"]).status == 0 } catch { return false }
    }()

    static let requirement: Comment =
        "needs root, mount namespaces and systemd-socket-activate (package systemd)"

    /// - Parameters:
    ///   - alias: a second path to the state folder, in the agent's own mount namespace.
    ///   - bus: creates the system bus in a folder, and returns its address.
    init(
        alias: String? = nil,
        bus: (TemporaryFolder) throws -> String = { _ in "unix:path=/nonexistent" }
    ) throws {
        folder = try TemporaryFolder()
        let path = folder.path
        try Self.root(
            """
            set -e
            chmod 755 '\(path)'
            cd '\(path)'
            mkdir -m 755 run
            mkdir -m 700 state games man proxy root 54321
            chown irc state
            for user in games man proxy root 54321; do
                echo '\(AgentFixture.passphrase)' >$user/pass.txt
                echo \(AgentFixture.key) >$user/key.txt
                chown -R $user $user
            done
            mkdir bin
            for name in watchword watchword-agent; do cp '\(Self.programs)'/$name bin; done
            ln -s '\(Self.programs)/StackedPresence' bin/watchword-presence
            ln -s '\(Self.programs)/watchword-courier' bin
            mkdir bin/pam.d
            """)
        supervisor = try Self.launch(in: path, bus: bus(folder), alias: alias)
    }

    /// Ends the agent if it is still running, and starts it again.
    func restart() throws {
        kill(supervisor, SIGKILL)
        try Self.root(
            "while [ -d /proc/\(supervisor) ] && ! grep -q 'State:.Z' /proc/\(supervisor)/status; do :; done; "
                + "rm -f '\(folder.path)'/run/agent.sock; "
                + "while grep -q '\(folder.path)/run/agent.sock$' /proc/net/unix; do :; done")
        supervisor = try Self.launch(in: folder.path, bus: "unix:path=/nonexistent")
    }

    // A socket exists a moment before it accepts connections (flag 00010000 in /proc/net/unix).
    private static func launch(
        in path: String, bus: String, alias: String? = nil
    ) throws -> Int32 {
        let mounted =
            alias.map {
                "mkdir \($0); setsid unshare -m sh -c 'mount --bind state \($0); exec \"$@\"' sh"
            } ?? "setsid"
        // The launcher closes all open files that it inherits; Foundation mistakes this for the end
        // of the process.
        let started = try root(
            """
            cd '\(path)'
            \(mounted) systemd-socket-activate -l "$PWD/run/agent.sock" \
                -E DBUS_SYSTEM_BUS_ADDRESS='\(bus)' setpriv --reuid irc \
                --regid irc --clear-groups -- "$PWD/bin/watchword-agent" --system "$PWD/state" \
                </dev/null >/dev/null 2>&1 &
            echo $!
            until grep -q " 00010000 .* $PWD/run/agent.sock\\$" /proc/net/unix; do :; done
            chmod 666 run/agent.sock
            """)
        return try #require(Int32(started.text.filter(\.isNumber)))
    }

    deinit {
        // The launcher, which waits for a client, blocks SIGTERM.
        kill(supervisor, SIGKILL)
    }

    private static let programs = URL(filePath: BuiltProgram.path("watchword"))
        .deletingLastPathComponent().path

    /// The process that holds the keys.
    func keyHolder() throws -> Int32 {
        let text = try Self.root("ps -o pid= --ppid \(supervisor)").text
        return try #require(Int32(text.filter(\.isNumber)))
    }

    /// Makes `watchword-presence` use these PAM modules.
    func configure(_ authentication: String) throws {
        let lines = "auth \(authentication)\naccount required pam_permit.so\n"
        try folder.write(Array(lines.utf8), to: "bin/pam.d/watchword")
    }

    /// Creates a vault with these entries, and moves it to the agent.
    ///
    /// - Parameters:
    ///   - entries: the arguments of `watchword add` for each, without the key.
    ///   - cost: the base-2 logarithm of scrypt's cost.
    func keep(
        _ entries: [String] = ["Site:me"], of user: User = .games, cost: Int = 10
    ) throws {
        try make(entries, of: user, cost: cost)
        try Self.root(
            """
            set -e
            cd '\(folder.path)'
            mkdir -m 700 state/\(user.id)
            mv \(user.rawValue)/\(AgentFixture.vault) state/\(user.id)/vault
            rm -r \(user.rawValue)/.local
            chown -R irc state/\(user.id)
            """)
    }

    /// Creates a vault with these entries in a user's home folder.
    func make(
        _ entries: [String] = ["Site:me"], of user: User = .games, cost: Int = 10
    ) throws {
        let passphrase = "--passphrase-file pass.txt"
        try run("init -q --scrypt-log-n \(cost) \(passphrase) --no-recovery-key", as: user)
        for entry in entries {
            try run("add -q \(entry) --secret-file key.txt \(passphrase)", as: user)
        }
    }

    /// A connection of the test itself, whose user is root.
    func client() throws -> AgentClient {
        let socket = try LocalSocket.connect(to: folder.file("run/agent.sock"))
        return AgentClient(FrameConnection(socket), isSystem: true)
    }

    /// Writes a file that belongs to a user, in that user's folder.
    func write(_ bytes: [UInt8], to name: String, of user: User = .games) throws {
        let path = "\(user.rawValue)/\(name)"
        try folder.write(bytes, to: path)
        try Self.root("cd '\(folder.path)'; chown \(user.rawValue) \(path); chmod 600 \(path)")
    }

    /// Runs a shell command as root, and expects it to succeed.
    @discardableResult
    static func root(_ command: String) throws -> ForeignProgram.Outcome {
        let outcome = try ForeignProgram(path: "/bin/sh").run(["-c", command])
        let errors = String(decoding: outcome.errors, as: UTF8.self)
        #expect(outcome.status == 0, "\(command)\n\(outcome.text)\(errors)")
        return outcome
    }

    /// Runs `watchword` as a user, without a terminal, and expects `status`.
    @discardableResult
    func run(
        _ arguments: String, as user: User = .games, status: Int32 = 0
    ) throws -> ForeignProgram.Outcome {
        try shell("watchword " + arguments, as: user, status: status)
    }

    /// Runs a shell command as a user, without a terminal, and expects `status`; with `nil`, any
    /// status is accepted.
    @discardableResult
    func shell(
        _ command: String, as user: User = .games, status: Int32? = 0
    ) throws -> ForeignProgram.Outcome {
        let outcome = try ForeignProgram(path: "/usr/bin/setsid").run(
            ["--wait", "/bin/sh", "-c", setting(command, as: user)])
        let errors = String(decoding: outcome.errors, as: UTF8.self)
        if let status {
            #expect(outcome.status == status, "\(command)\n\(outcome.text)\(errors)")
        }
        return outcome
    }

    /// A terminal on which `watchword` runs as a user.
    func terminal(_ arguments: String, as user: User = .games) throws -> PseudoTerminal {
        let script = setting("watchword \(arguments)", as: user)
        try folder.write(Array(script.utf8), to: "script")
        return try PseudoTerminal("/bin/sh script", in: folder)
    }

    /// A script that runs `command` as a user who sees the agent's socket.
    private func setting(_ command: String, as user: User) -> String {
        let quoted = command.replacingOccurrences(of: "'", with: "'\\''")
        return """
            exec unshare -m /bin/sh -c '
            mount -t tmpfs -o mode=755 none /run &&
            mkdir /run/watchword && mount --bind "$0/run" /run/watchword &&
            cd "$0/\(user.rawValue)" && exec setpriv --reuid \(user.rawValue) \
            --regid \(user.rawValue) --clear-groups -- env -i PATH="$0/bin:/usr/bin:/bin" \
            HOME="$0/\(user.rawValue)" LC_ALL=C.UTF-8 WATCHWORD_CLOCK_WARNING=off TERM=xterm \
            /bin/sh -c "$1"' '\(folder.path)' '\(quoted)'
            """
    }
}

extension SystemAgentFixture: TestedAgent {
    @discardableResult
    func run(_ arguments: String, status: Int32) throws -> ForeignProgram.Outcome {
        try run(arguments, as: .games, status: status)
    }

    func terminal(_ arguments: String) throws -> PseudoTerminal {
        try terminal(arguments, as: .games)
    }
}
