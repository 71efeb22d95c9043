import Foundation
import TestSupport
import Testing
import VaultService
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// Searches the agent's memory, which root can read, for the vault's key.
@Suite(.serialized, .enabled(if: geteuid() == 0, "needs root"))
struct AgentKeyTests {
    @Test(
        "a lock ends a presence check, and then no key remains in memory",
        arguments: [
            "optional pam_unix.so\nauth required pam_permit.so", "required pam_exec.so quiet",
        ])
    func check(modules: String) throws {
        let agent = try AgentFixture(["A:a --presence per-use:pam --secret-file key.txt"])
        let key = try agent.vaultKey()
        try agent.installModules()
        try agent.shell(
            """
            printf '#!/bin/sh\\ntouch %s/asked\\nexec sleep 3600\\n' "$PWD" >wait
            chmod 755 wait
            """)
        let isExternal = modules.contains("pam_exec")
        try agent.configure(modules + (isExternal ? " \(agent.folder.file("wait"))" : ""))
        try agent.shell("bin/watchword \(AgentFixture.unlock)")
        let holder = try agent.keyHolder()
        let terminal = try agent.terminal("code A --at 59", program: "bin/watchword")
        if isExternal {
            try agent.shell("until [ -e asked ]; do :; done")
        } else {
            try terminal.waitFor("assword: ")
        }
        #expect(try ProcessMemory.holds(key, in: holder))
        try agent.run("lock")
        try ProcessMemory.wait(untilGone: key, from: holder)
        if !isExternal { try terminal.type("any\n") }
        #expect(try terminal.end() == 4)
        #expect(!terminal.screen.contains("287082"))
        #expect(terminal.screen.contains("the agent has locked the vault"))
        // No attempt was made.
        try agent.configure("required pam_permit.so")
        try agent.shell("bin/watchword \(AgentFixture.unlock)")
        #expect(try agent.shell("bin/watchword code A --at 59").text == "287082\n")
    }

    @Test("a lock wipes the key at once while a request computes, and the request ends")
    func computing() throws {
        let agent = try AgentFixture()
        try agent.run(AgentFixture.unlock)
        let (place, key, holder) = (try agent.place(), try agent.vaultKey(), try agent.keyHolder())
        let path = agent.folder.file("run/watchword/agent.sock")
        let connection = FrameConnection(try LocalSocket.connect(to: path))
        let items = (1...50_000).map { number in
            ImportItem(
                .plainSecret(
                    issuer: "", account: "\(number)", value: SecretBytes(text: "\(number)")),
                details: EntryDetails(), origin: nil)
        }
        let frame = try FrameWriter()
        frame.append(AgentProtocol.version)
        frame.append(
            AgentRequest.rehearse(
                place, .importing(ImportEdit(items, DuplicateChoices(.skip)))))
        #expect(try connection.send(frame, timeout: .seconds(60)))
        #expect(try ProcessMemory.holds(key, in: holder))
        guard case .done = try agent.client().send(.lock(place)) else {
            Issue.record("not locked")
            return
        }
        #expect(try !ProcessMemory.holds(key, in: holder))
        let received = try connection.receive(
            limit: 1 << 26, idleTime: .seconds(60), timeout: .seconds(10))
        guard case .frame(let answer) = received else {
            Issue.record("no answer")
            return
        }
        #expect(try answer.withBytes { "\(try AgentResponse(parsing: $0).isNotHeld)" } == "true")
    }

    @Test(
        "a lock ends the check for a move out of the system agent, which keeps the vault",
        .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
    func move() throws {
        let agent = try SystemAgentFixture()
        let path = agent.folder.path
        // The PAM modules can reach neither the state folder nor files that are created after the
        // agent's start.
        try SystemAgentFixture.root(
            """
            mkdir -m 777 '\(path)/asked'
            printf '#!/bin/sh\ntouch %s/asked/now\nexec sleep 3600\n' '\(path)' >'\(path)/wait'
            chmod 755 '\(path)/wait'
            """)
        try agent.keep(["Bank:me --presence per-use:pam"])
        try agent.configure("required pam_exec.so quiet \(path)/wait")
        let terminal = try agent.terminal("vault move --to-user --passphrase-file pass.txt")
        try SystemAgentFixture.root("until [ -e '\(path)/asked/now' ]; do :; done")
        try agent.run("lock")
        #expect(try terminal.end() == 4)
        #expect(terminal.screen.contains("the agent has locked the vault"))
        try agent.configure("required pam_permit.so")
        let second = try agent.terminal("vault move --to-user --passphrase-file pass.txt")
        #expect(try second.end() == 0)
    }

    @Test("a lock interrupts a sign-in, no key remains in memory, and the next sign-in resumes it")
    func signIn() throws {
        let agent = try AgentFixture([])
        let server = try LoginServer(["none", "slow"], certificate: "good")
        for (name, bytes) in try LoginServer.enrolmentFiles() {
            try agent.folder.write(bytes, to: name)
        }
        try agent.run(AgentFixture.unlock)
        try agent.run(server.enrolment("Mill:ivan"))
        let (key, holder) = (try agent.vaultKey(), try agent.keyHolder())
        let terminal = try agent.terminal("login present mill")
        while try server.requests().count < 2 {}
        #expect(try ProcessMemory.holds(key, in: holder))
        try agent.run("lock")
        try ProcessMemory.wait(untilGone: key, from: holder)
        #expect(try terminal.end() == 4)
        #expect(!terminal.screen.contains("wwl_"))
        try agent.run(AgentFixture.unlock)
        #expect(try agent.run("login present mill").text.hasPrefix("wwl_"))
    }
}

extension AgentResponse {
    fileprivate var isNotHeld: Bool { if case .notHeld = self { true } else { false } }
}

extension AgentFixture {
    /// The key of the vault.
    func vaultKey() throws -> SecretBytes {
        let opener = VaultOpener.passphrase(SecretBytes(text: Self.passphrase))
        let vault = try Vault.unlock(at: folder.file(Self.vault), with: opener)
        return try vault.key.withSecret { SecretBytes(key: $0) }
    }
}

/// The memory of another process.
enum ProcessMemory {
    /// Whether `secret` is in the memory that `process` can write.
    static func holds(_ secret: SecretBytes, in process: Int32) throws -> Bool {
        let wanted = Data(secret.known)
        let memory = try #require(FileHandle(forReadingAtPath: "/proc/\(process)/mem"))
        let maps = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
        for line in maps.split(separator: "\n") where line.contains(" rw") {
            let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap {
                UInt64($0, radix: 16)
            }
            do {
                try memory.seek(toOffset: ends[0])
                let bytes = try memory.read(upToCount: Int(ends[1] - ends[0])) ?? Data()
                if bytes.range(of: wanted) != nil { return true }
            } catch {
                // The region has been unmapped.
                continue
            }
        }
        return false
    }

    /// Waits until `secret` is no longer in that memory; fails after some seconds.
    static func wait(untilGone secret: SecretBytes, from process: Int32) throws {
        let end = Date(timeIntervalSinceNow: 5)
        while try holds(secret, in: process) {
            try #require(Date() < end, "the key remains in memory")
        }
    }
}
