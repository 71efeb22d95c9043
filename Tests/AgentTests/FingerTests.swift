import Devices
import Foundation
import TestSupport
import Testing
import VaultService
import WatchwordSystem

@testable import Agent
@testable import SecretVault

/// The fingers that must be enrolled to open entries.
struct FingerRecordTests {
    private static func id(_ byte: UInt8) -> RecordID {
        let bytes = [UInt8](repeating: byte, count: RecordID.count)
        return RecordID(bytes.span)
    }

    @Test("a record decodes unchanged, and every other file counts as damaged")
    func file() throws {
        var record = FingerRecord()
        for (byte, text) in [(7, "left-thumb,right-thumb"), (1, "right-thumb")] as [(UInt8, String)]
        {
            record[Self.id(byte)] = EnrolledFingers(text: text)
        }
        let bytes = record.bytes
        let read = try #require(FingerRecord(parsing: bytes))
        #expect(read.bytes == bytes)
        #expect(read[Self.id(7)]?.text == "left-thumb,right-thumb" && read[Self.id(2)] == nil)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(FingerRecord(parsing: changed)?.bytes == nil, "byte \(index)")
            #expect(FingerRecord(parsing: Array(bytes[..<index]))?.bytes == nil, "\(index) bytes")
        }
        #expect(FingerRecord(parsing: bytes + [10])?.bytes == nil)
    }

    @Test("fingers are a sorted list of names as fprintd uses them, and any other text is refused")
    func names() throws {
        let fingers = try #require(EnrolledFingers(["right-thumb", "left-thumb", "left-thumb"]))
        #expect(fingers.text == "left-thumb,left-thumb,right-thumb")
        #expect(EnrolledFingers(text: fingers.text) == fingers)
        #expect(EnrolledFingers([])?.text == "" && EnrolledFingers(text: "")?.text == "")
        for text in ["b,a", "a,", ",a", ",", "A", "a b", "a\n", String(repeating: "a", count: 33)] {
            #expect(EnrolledFingers(text: text) == nil, "\(text)")
        }
        let longest = Substring(repeating: "a", count: 32)
        #expect(EnrolledFingers(Array(repeating: longest, count: 64)) != nil)
        #expect(EnrolledFingers(Array(repeating: longest, count: 65)) == nil)
    }
}

/// Checks of entries that require fingers, in a system agent that uses the test's own fprintd.
@Suite(
    .serialized, .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement),
    .enabled(if: PrivateBus.isPossible, PrivateBus.requirement))
struct FingerTests {
    /// A vault with two entries that PAM protects; the modules permit every use.
    private final class Machine {
        let agent: SystemAgentFixture
        let bus: PrivateBus
        private var ids: [RecordID] = []
        private var fprintd: String?
        private let user: SystemAgentFixture.User

        /// - Parameter user: the vault's user; the vault is unlocked for root, as whom this process
        ///   runs.
        init(of user: SystemAgentFixture.User = .root) throws {
            self.user = user
            agent = try SystemAgentFixture()
            bus = PrivateBus(in: agent.folder)
            try bus.start()
            try agent.folder.write(
                Array("DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)\n".utf8), to: "bin/environment")
            try agent.configure("required pam_permit.so")
            try agent.keep(
                ["Bank:me --presence per-use:pam", "Shop:me --presence per-use:pam"], of: user)
            guard user == .root else { return }
            let unlock = AgentRequest.unlock(.ofSystem, AgentFixture.opener, ceiling: 20, .standard)
            if case .listing(let listing) = try agent.client().send(unlock) {
                ids = listing.entries.map(\.summary.id)
            }
            try #require(ids.count == 2)
        }

        /// Replaces the enrolled fingers; `nil` removes fprintd.
        func enrol(_ fingers: String?) throws {
            let service = "net.reactivated.Fprint"
            if let fprintd {
                try SystemAgentFixture.root("kill \(fprintd)")
                try bus.wait("! \(bus.hasService(service))")
            }
            fprintd = try fingers.map { fingers in
                try bus.play(
                    PackageFolder.root.appending(
                        path: "Tests/FingerprintReader/fingerprint_reader.py"
                    ).path, ["scans": "none", "fingers": fingers], as: service)
            }
        }

        /// Records that the first entry requires these fingers.
        func require(_ text: String, mode: String = "600", damaging: Bool = false) throws {
            var record = FingerRecord()
            record[ids[0]] = EnrolledFingers(text: text)
            try agent.folder.write(record.bytes + (damaging ? [10] : []), to: "record")
            try SystemAgentFixture.root(
                """
                cd '\(agent.folder.path)' && chown irc record && chmod \(mode) record \
                && mv record state/0/fingers
                """)
        }

        /// The record; empty if there is none.
        func file() throws -> String {
            let path = "\(agent.folder.path)/state/\(user.id)/fingers"
            return try SystemAgentFixture.root("[ ! -e '\(path)' ] || cat '\(path)'").text
        }

        /// The fingers that the first entry requires.
        func required() throws -> String? {
            FingerRecord(parsing: Array(try file().utf8))?[ids[0]]?.text
        }

        func prove(_ client: AgentClient) throws {
            let response = try client.send(.prove(.ofSystem, AgentFixture.opener, ceiling: 20))
            guard case .done = response else { throw RequestRefusal(response) }
        }

        /// Requests the code of an entry.
        func use(_ client: AgentClient, entry: Int = 0) throws -> Outcome {
            let time = CodeTime.moment(59, offset: 0, isRefresh: false)
            switch try client.send(.code(.ofSystem, ids[entry], time, .modules("now"))) {
            case .code: return .code
            case .fingersDiffer(let difference): return .differ(difference)
            case .refused: return .refused
            default: return .other
            }
        }
    }

    private enum Outcome: Equatable {
        case code, refused, differ(FingerDifference), other
    }

    private static let cases: [(required: String, enrolled: String?, FingerDifference?)] = [
        ("right-thumb", "right-thumb", nil),
        ("left-thumb,right-thumb", "right-thumb/left-thumb", nil),
        ("right-thumb", "/right-thumb", nil),
        ("right-thumb", "right-thumb left-thumb", .changed),
        ("left-thumb,right-thumb", "right-thumb", .changed),
        ("right-thumb", "left-thumb", .changed),
        ("right-thumb", "right-thumb/right-thumb", .changed),
        ("right-thumb", "", .noFinger), ("right-thumb", "/", .noFinger),
        ("right-thumb", "error", .unreachable), ("right-thumb", "right-thumb/error", .unreachable),
        ("right-thumb", "RIGHT-THUMB", .unreachable), ("right-thumb", nil, .unreachable),
        ("right-thumb", String(repeating: "/", count: 15) + "right-thumb", nil),
        ("right-thumb", String(repeating: "/", count: 16) + "right-thumb", .unreachable),
    ]

    @Test("the recorded fingers permit a use, and different fingers require the passphrase once")
    func fingers() throws {
        let machine = try Machine()
        for (required, enrolled, difference) in Self.cases {
            try machine.enrol(enrolled)
            try machine.require(required)
            let expected = difference.map(Outcome.differ) ?? .code
            let client = try machine.agent.client()
            let words = "\(required), \(enrolled ?? "no fprintd")"
            // A difference is not counted: the number of attempts here exceeds the failures
            // allowed.
            for _ in 0...LockOutPolicy.firstFailureWithWait {
                #expect(try machine.use(client) == expected, "\(words)")
            }
            #expect(try machine.required() == required, "\(words)")
            // An entry that requires no fingers is not affected.
            #expect(try machine.use(client, entry: 1) == .code, "\(words)")
            try machine.prove(client)
            #expect(try machine.use(client) == .code, "\(words)")
            // If different fingers are enrolled, they are recorded after the proof, and then
            // suffice.
            let later = try machine.use(machine.agent.client())
            #expect(later == (difference == .changed ? .code : expected), "\(words)")
            if difference != .changed { #expect(try machine.required() == required, "\(words)") }
        }
    }

    @Test("a damaged record, or one that others can read, requires the passphrase for each entry")
    func damaged() throws {
        let machine = try Machine()
        try machine.enrol("right-thumb")
        for (mode, isDamaged) in [("600", true), ("644", false)] {
            try machine.require("right-thumb", mode: mode, damaging: isDamaged)
            let client = try machine.agent.client()
            for entry in 0...1 {
                #expect(try machine.use(client, entry: entry) == .differ(.damaged))
            }
            try machine.prove(client)
            for entry in 0...1 { #expect(try machine.use(client, entry: entry) == .code) }
            #expect(try machine.use(machine.agent.client()) == .differ(.damaged))
        }
        try machine.require("right-thumb")
        #expect(try machine.use(machine.agent.client()) == .code)
    }

    @Test("a finger that is enrolled during the check does not pass it, even after a proof")
    func meanwhile() throws {
        let machine = try Machine()
        try machine.enrol(
            "right-thumb;right-thumb left-thumb;right-thumb;left-thumb;left-ring-finger")
        try machine.require("right-thumb")
        let client = try machine.agent.client()
        #expect(try machine.use(client) == .differ(.changed))
        try machine.prove(client)
        #expect(try machine.use(client) == .differ(.changed))
        #expect(try machine.required() == "right-thumb")
        #expect(try machine.use(client) == .code)
        #expect(try machine.required() == "left-ring-finger")
    }

    @Test("the recorded fingers permit no use that the PAM modules refuse")
    func refused() throws {
        let machine = try Machine()
        try machine.enrol("right-thumb")
        try machine.require("right-thumb")
        try machine.agent.configure("required pam_deny.so")
        #expect(try machine.use(machine.agent.client()) == .refused)
    }

    @Test("--fingers current records the fingers, and any others require the passphrase once")
    func commands() throws {
        let machine = try Machine(of: .games)
        let agent = machine.agent
        try agent.run(AgentFixture.unlock)
        try machine.enrol("")
        try agent.run("edit Bank --fingers current", status: 4)
        #expect(try machine.file() == "")
        try machine.enrol("right-thumb")
        try agent.run("edit Bank --fingers current")
        try agent.run(
            "add New:me --presence per-use:pam --fingers current --secret-file key.txt")
        #expect(try machine.file().components(separatedBy: " right-thumb\n").count == 3)
        let code = "code Bank --at 59"
        #expect(try agent.run(code).text == "287082\n")
        try machine.enrol("left-thumb")
        #expect(try agent.run(code, status: 4).text == "")
        let screen = try agent.enteringPassphrase(code)
        #expect(screen.contains("have changed") && screen.contains("287082"))
        #expect(try agent.run(code).text == "287082\n")
        try agent.run("code New --at 59", status: 4)
        try agent.run("edit Bank --fingers any")
        let record = try machine.file()
        #expect(record.contains(" right-thumb\n") && !record.contains(" left-thumb\n"))
        try machine.enrol("")
        #expect(try agent.run(code).text == "287082\n")
        try agent.run("vault move --to-user --passphrase-file pass.txt")
        #expect(try machine.file() == "")
    }

    @Test("a key that replaces a key that requires fingers requires them, too")
    func replaced() throws {
        let machine = try Machine(of: .games)
        let (agent, server) = (machine.agent, try KeyServer())
        try agent.run(AgentFixture.unlock)
        try machine.enrol("right-thumb")
        func enrolKey(_ more: String = "") throws -> String {
            let ticket = try server.ticket(for: "ann", more)
            try agent.write(Array("\(ticket.text)\n".utf8), to: "ticket.txt")
            let terminal = try agent.terminal(
                "key enrol Mill:ann --server \(server.address) --ticket-file ticket.txt "
                    + "--presence per-use:pam --custody vault")
            #expect(try terminal.end() == 0, "\(terminal.screen)")
            return ticket.credential
        }
        let first = try enrolKey()
        try agent.run("edit Mill --fingers current")
        let second = try enrolKey(#","replaces":"\#(first)""#)
        #expect(try server.active() == [second])
        try agent.run("key present mill")
        try machine.enrol("left-thumb")
        try agent.run("key present mill", status: 4)
    }

    @Test("an edit that fails leaves no entry with weaker protection than it had or was to have")
    func failures() throws {
        let machine = try Machine(of: .games)
        let agent = machine.agent
        let state = "'\(agent.folder.path)/state/5'"
        try agent.run(AgentFixture.unlock)
        func expectFailure(_ command: String) throws {
            let outcome = try agent.shell("watchword \(command)", status: nil)
            #expect(outcome.status != 0, "\(command)")
        }
        let add = "add New:me --presence per-use:pam --fingers current --secret-file key.txt"
        for fingers in [nil, "", "error"] {
            try machine.enrol(fingers)
            try agent.run(add, status: 4)
        }
        // The fingers are reported, but cannot be recorded.
        try machine.enrol("right-thumb")
        try SystemAgentFixture.root("mkdir \(state)/fingers.new")
        try expectFailure(add)
        try expectFailure("edit Bank --fingers current --tag changed")
        try SystemAgentFixture.root("rmdir \(state)/fingers.new")
        let list = try agent.run("--json list").text
        #expect(!list.contains("New") && !list.contains("changed"))
        #expect(try machine.file() == "")
        // A change that is refused, or cannot be saved, removes no requirement.
        try agent.run("edit Bank --fingers current --tag changed")
        let record = try machine.file()
        #expect(record.contains(" right-thumb\n"))
        try agent.run("edit Bank --fingers any --issuer Shop", status: 1)
        let working = "\(state)/.watchword/by-name/vault/new"
        try SystemAgentFixture.root("mkdir \(working)")
        try expectFailure("edit Bank --fingers any --issuer Other")
        #expect(try machine.file() == record)
        try SystemAgentFixture.root("rmdir \(working)")
        try agent.run("edit Bank --fingers any --issuer Other")
        #expect(try machine.file() == "")
    }

    @Test("the agent's helper process reports fingers only to a system agent")
    func channel() throws {
        for (mode, user) in [
            (.system(folder: "/"), 7), (.user(folders: [], deviceKeys: nil), nil),
        ] as [(AgentMode, UInt32?)] {
            let pair = try SocketPair()
            for byte in [HelperChannel.fingersOfUser, 0, 0, 0, 7] { try pair.first.send(byte) }
            let request = try ProgramRequest.next(from: pair.second, in: mode)
            #expect(request?.user == user)
            #expect(request?.arguments == user.map { ["--fingers", "\($0)"] })
        }
    }
}
