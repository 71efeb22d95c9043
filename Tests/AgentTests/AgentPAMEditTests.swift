import SecretVault
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

/// Changes to an entry that PAM protects, through the agent and without it.
struct AgentPAMEditTests {
    private static let other = "NBSWY3DPO5XXE3DENBSWY3DPO5XXE3DE"

    /// Changes that require the check of the entry.
    private static let checked = [
        "edit A:a --presence per-unlock", "edit A:a --on-failure wipe:9", "edit A:a --reuse 60",
        "edit A:a --secret-file new.txt", "edit A:a --digits 8",
        "import items.txt --on-duplicate replace", "edit A:a --account b", "rename A:a B:b",
        "remove A:a --yes", "remove A:a --yes --purge",
    ]
    /// A change that does not require the check.
    private static let unchecked = ["edit A:a --tag work"]

    /// The effects of a command.
    private struct Result: Hashable {
        let status: String
        let errors: String
        let list: String
        let code: String
    }

    private func fixture(_ module: String, _ options: String = "") throws -> AgentFixture {
        let agent = try AgentFixture([
            "A:a --presence per-use:pam --secret-file key.txt \(options)"
        ])
        try agent.folder.write(Array("\(Self.other)\n".utf8), to: "new.txt")
        try agent.folder.write(
            Array("otpauth://totp/A:a?secret=\(Self.other)\n".utf8), to: "items.txt")
        try agent.shell("chmod 600 *.txt")
        try agent.installModules()
        try agent.configure("required \(module)")
        return agent
    }

    private func result(
        of command: String, module: String, options: String = "", held: Bool
    ) throws -> Result {
        let agent = try fixture(module, options)
        let own = "--passphrase-file pass.txt"
        if held { try agent.shell("bin/watchword unlock \(own)") }
        let outcome = try agent.shell("bin/watchword \(command) \(held ? "" : own); echo $?")
        try agent.configure("required pam_permit.so")
        return Result(
            status: outcome.text, errors: AgentFixture.errors(outcome),
            list: try agent.shell("bin/watchword list \(own)").text,
            code: try agent.shell("bin/watchword code A:a --at 59 \(own) || true").text)
    }

    @Test("a change that the check refuses is not made, as without the agent", arguments: checked)
    func refused(command: String) throws {
        let held = try result(of: command, module: "pam_deny.so", held: true)
        #expect(try result(of: command, module: "pam_deny.so", held: false) == held)
        #expect(held.status.hasSuffix("4\n"))
        #expect(held.errors.contains("“A:a” was not opened"))
        #expect(held.list == "A:a  totp, per-use:pam\n" && held.code == "287082\n")
    }

    @Test(
        "a change that the check permits, or that needs none, is made, as without the agent",
        arguments: checked.map { ($0, "pam_permit.so") } + unchecked.map { ($0, "pam_deny.so") })
    func permitted(command: String, module: String) throws {
        let held = try result(of: command, module: module, held: true)
        #expect(try result(of: command, module: module, held: false) == held)
        #expect(held.status.hasSuffix("0\n"))
        #expect(held.list != "A:a  totp, per-use:pam\n" || held.code != "287082\n")
    }

    @Test(
        "an entry with a forged wipe is also removed or renamed only after its check",
        arguments: ["rename A:a B:b", "remove A:a --yes", "edit A:a --account b"])
    func vanished(command: String) throws {
        for held in [true, false] {
            let agent = try fixture("pam_deny.so")
            let own = held ? "" : "--passphrase-file pass.txt"
            if held { try agent.shell("bin/watchword unlock --passphrase-file pass.txt") }
            try agent.forgeTombstone()
            let forged = try agent.folder.bytes(of: AgentFixture.vault)
            let refused = try agent.shell("bin/watchword -q \(command) \(own)", status: 4)
            #expect(AgentFixture.errors(refused).contains("“A:a” was not opened"))
            #expect(try agent.folder.bytes(of: AgentFixture.vault) == forged)
            try agent.configure("required pam_permit.so")
            try agent.shell("bin/watchword -q \(command) \(own)")
            #expect(try agent.folder.bytes(of: AgentFixture.vault) != forged)
        }
    }

    @Test("a change that the check refuses can wipe the entry, as without the agent")
    func wiped() throws {
        let (command, module) = ("edit A:a --presence per-unlock", "pam_deny.so")
        let held = try result(
            of: command, module: module, options: "--on-failure wipe:1", held: true)
        #expect(
            try result(of: command, module: module, options: "--on-failure wipe:1", held: false)
                == held)
        #expect(held.list == "A:a  wiped\n")
    }

    @Test("a question from the modules reaches the terminal, and without an answer nothing changes")
    func questions() throws {
        let agent = try fixture("pam_unix.so")
        try agent.shell("bin/watchword unlock --passphrase-file pass.txt")
        let before = try agent.folder.bytes(of: AgentFixture.vault)
        for command in [Self.checked[0], Self.checked[5]] {
            let terminal = try agent.terminal(command, program: "bin/watchword")
            try terminal.waitFor("assword: ")
            #expect(terminal.screen.contains("A:a"))
            try terminal.type("\u{3}")
            #expect(try terminal.end() != 0)
            let silent = try agent.shell("bin/watchword \(command)", status: 4)
            #expect(AgentFixture.errors(silent).contains("PAM needs a terminal"))
        }
        #expect(try agent.folder.bytes(of: AgentFixture.vault) == before)
    }

    /// Answers the question of the PAM modules, and disconnects.
    ///
    /// - Returns: whether there was a question.
    private func guess(_ request: AgentRequest, _ agent: AgentFixture) throws -> Bool {
        let path = agent.folder.file("run/watchword/agent.sock")
        while true {
            let connection = FrameConnection(try LocalSocket.connect(to: path))
            func send(_ request: AgentRequest) throws {
                let frame = try FrameWriter()
                frame.append(AgentProtocol.version)
                frame.append(request)
                _ = try connection.send(frame, timeout: .seconds(10))
            }
            try send(request)
            let received = try connection.receive(
                limit: 4096, idleTime: .seconds(30), timeout: .seconds(10))
            guard case .frame(let frame) = received else { return false }
            // The check of the previous client has not ended yet.
            if case .noVerdict = try frame.withBytes({ try AgentResponse(parsing: $0) }) {
                continue
            }
            try send(.answer(SecretBytes(text: "guess")))
            connection.shutDown()
            return true
        }
    }

    @Test("a guess wipes the entry even if its client leaves before the refusal")
    func wipedAfterLeaving() throws {
        let agent = try fixture("pam_permit.so", "--on-failure wipe:1")
        let path = agent.folder.path
        try agent.folder.addProgram(
            """
            #!/bin/sh
            cat >/dev/null
            until [ -e '\(path)/left' ]; do :; done
            """, as: "wait")
        try agent.configure(
            "optional pam_exec.so expose_authtok quiet \(path)/wait\nauth required pam_deny.so")
        try agent.shell("bin/watchword unlock --passphrase-file pass.txt")
        let (client, place) = (try agent.client(), try agent.place())
        func entry() throws -> EntrySummary {
            try #require(try agent.listing(client, of: place).entries.first).summary
        }
        let time = CodeTime.moment(59, offset: 0, isRefresh: false)
        #expect(try guess(.code(place, entry().id, time, .modules("To show a code")), agent))
        try agent.shell("touch left")
        let end = Moment.now + .seconds(30)
        while try entry().tombstone == nil, end.timeRemaining > .zero {}
        #expect(try entry().tombstone != nil)
    }

    @Test("a guess wipes the entry even if the modules fail instead of refusing it")
    func wipedByFailure() throws {
        let agent = try fixture("pam_permit.so", "--on-failure wipe:1")
        try agent.configure("required pam_exec.so expose_authtok quiet /bin/false")
        try agent.shell("bin/watchword unlock --passphrase-file pass.txt")
        let terminal = try agent.terminal("code A:a --at 59", program: "bin/watchword")
        try terminal.waitFor("assword: ")
        try terminal.type("guess\n")
        #expect(try terminal.end() == 4, "\(terminal.screen)")
        #expect(terminal.screen.contains("wiped"))
    }

    @Test("guesses of clients that leave before the verdict count, and lock the entry out")
    func leaving() throws {
        let agent = try fixture("pam_unix.so")
        try agent.shell("bin/watchword unlock --passphrase-file pass.txt")
        let place = try agent.place()
        let id = try #require(try agent.listing(agent.client(), of: place).entries.first)
            .summary.id
        let time = CodeTime.moment(59, offset: 0, isRefresh: false)
        for _ in 1...LockOutPolicy.firstFailureWithWait {
            #expect(try guess(.code(place, id, time, .modules("To show a code")), agent))
        }
        // The agent completes checks that have begun.
        try agent.shell("bin/watchword agent stop")
        try agent.configure("required pam_permit.so")
        let refused = try agent.shell(
            "bin/watchword code A:a --at 59 --passphrase-file pass.txt", status: 4)
        #expect(AgentFixture.errors(refused).contains("locked"))
    }

    @Test("after a check without a verdict, the agent does not mistake a late answer for a request")
    func noVerdict() throws {
        let agent = try fixture("pam_permit.so")
        try agent.shell("rm bin/pam.d/watchword; bin/watchword unlock --passphrase-file pass.txt")
        let (client, place) = (try agent.client(), try agent.place())
        let id = try #require(try agent.listing(client, of: place).entries.first).summary.id
        let time = CodeTime.moment(59, offset: 0, isRefresh: false)
        let response = try client.send(.code(place, id, time, .modules("To show a code"))) { _ in
            .cancel
        }
        guard case .noVerdict = response else {
            Issue.record("\(response)")
            return
        }
        #expect(throws: AgentFailure.noResponse) { try client.send(.status) }
    }

    @Test("guesses at a change through the agent count, and lock the entry out")
    func guesses() throws {
        let agent = try fixture("pam_unix.so")
        try agent.shell("bin/watchword unlock --passphrase-file pass.txt")
        let before = try agent.folder.bytes(of: AgentFixture.vault)
        let place = try agent.place()
        for _ in 1...LockOutPolicy.firstFailureWithWait {
            let client = try agent.client()
            let entry = try #require(try agent.listing(client, of: place).entries.first).summary
            let weaker = EntryRevision.withoutChecks(of: entry)
            var asked = 0
            let response = try client.send(.edit(place, .revise(weaker), .modules("To change"))) {
                message in
                guard case .asks = message else { return nil }
                asked += 1
                return asked == 1 ? .answer(SecretBytes(text: "guess")) : .cancel
            }
            if case .edited = response { Issue.record("edited") }
        }
        #expect(try agent.folder.bytes(of: AgentFixture.vault) == before)
        try agent.configure("required pam_permit.so")
        let refused = try agent.shell("bin/watchword code A:a --at 59", status: 4)
        #expect(AgentFixture.errors(refused).contains("locked"))
    }
}
