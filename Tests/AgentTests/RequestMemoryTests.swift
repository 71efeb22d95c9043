import Foundation
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Agent
@testable import SecretVault
@testable import VaultService

/// Verifies that no kind of request, at its largest size, takes more memory than is charged for it.
@Suite(
    .serialized,
    .enabled(if: SystemAgentFixture.isPossible, SystemAgentFixture.requirement))
struct RequestMemoryTests {
    private static let opener = AgentFixture.opener
    /// Entries of the smallest size take the most memory per byte.
    private static let entries = 12_000
    private static let clients = 24

    /// A system agent, and a vault with many entries that this test's user can use.
    private final class Agent {
        let fixture: SystemAgentFixture
        let process: Int32
        /// The agent's memory before it held the vault.
        let idle: Int
        let vault: Int
        let listing: VaultListing

        init() throws {
            fixture = try SystemAgentFixture()
            try fixture.keep(["First:me"], of: .root)
            let client = try fixture.client()
            // Each thread that answers requests has its own stack.
            _ = try client.send(.status)
            process = try fixture.keyHolder()
            idle = try Agent.memory("VmRSS:", of: process)
            _ = try client.send(
                .unlock(.ofSystem, RequestMemoryTests.opener, ceiling: 20, .standard))
            let items = try RequestMemoryTests.items(RequestMemoryTests.entries)
            let edit = VaultEdit.importing(ImportEdit(items, DuplicateChoices(.skip)))
            guard case .edited = try client.send(.edit(.ofSystem, edit, .none)),
                case .listing(let listing) = try client.send(.list(.ofSystem))
            else { throw AgentFailure.malformed }
            self.listing = listing
            vault = Int(try #require(FileStamp(of: fixture.folder.file("state/0/vault"))).size)
            #expect(listing.entries.count > RequestMemoryTests.entries)
        }

        /// The peak memory of the agent while it answers the requests, minus its memory before it
        /// held the vault.
        func peak(of requests: [AgentRequest], atOnce: Bool = false) throws -> Int {
            // This also resets the peak (proc(5)).
            try SystemAgentFixture.root("echo 5 >/proc/\(process)/clear_refs")
            let connections = try requests.indices.map { _ in
                FrameConnection(try LocalSocket.connect(to: fixture.folder.file("run/agent.sock")))
            }
            if atOnce {
                let senders = zip(connections, requests).map { connection, request in
                    WorkerThread {
                        do { try RequestMemoryTests.exchange(request, connection) } catch {
                            Issue.record(error)
                        }
                    }
                }
                for sender in senders { try #require(sender).join() }
            } else {
                for request in requests {
                    try RequestMemoryTests.exchange(request, connections[0])
                }
            }
            return try Agent.memory("VmHWM:", of: process) - idle
        }

        private static func memory(_ name: String, of process: Int32) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(name) })
            return try #require(Int(line.split(separator: " ")[1])) << 10
        }
    }

    private static func exchange(_ request: AgentRequest, _ connection: FrameConnection) throws {
        let frame = try FrameWriter()
        frame.append(AgentProtocol.version)
        frame.append(request)
        _ = try connection.send(frame, timeout: .seconds(60))
        // The request may be refused while others have their turn.
        _ = try connection.receive(
            limit: 64 << 20, idleTime: .seconds(120), timeout: .seconds(60))
    }

    private static func size(of request: AgentRequest) throws -> Int {
        let frame = try FrameWriter()
        frame.append(request)
        return frame.withContent { $0.count } + 1
    }

    private static func items(_ count: Int, tags: Int = 0) throws -> [ImportItem] {
        let details = EntryDetails(tags: [String](repeating: "", count: tags))
        return (1...count).map { number in
            ImportItem(
                .plainSecret(
                    issuer: "", account: "\(number)", value: SecretBytes(text: "\(number)")),
                details: details, origin: nil)
        }
    }

    /// A folder with a copy of the vault, which belongs to this test.
    private static func copy(of agent: Agent) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try SystemAgentFixture.root(
            """
            cp '\(agent.fixture.folder.path)/state/0/vault' '\(folder.path)/vault'
            chown 0 '\(folder.path)/vault'; chmod 600 '\(folder.path)/vault'
            """)
        return folder
    }

    /// The largest requests of a kind; a new kind needs a sample here.
    private static func largest(
        of kind: AgentRequest.Kind, _ agent: Agent
    ) throws -> [AgentRequest] {
        let ids = agent.listing.entries.map(\.summary.id)
        let time = CodeTime.moment(59, offset: 0, isRefresh: false)
        let prove = AgentRequest.prove(.ofSystem, opener, ceiling: 20)
        let first = try #require(ids.first)
        let edits = try [items(20_000), items(500, tags: TransferLimits.parts)].map {
            VaultEdit.importing(ImportEdit($0, DuplicateChoices(.skip)))
        }
        switch kind {
        case .unlock: return [.unlock(.ofSystem, opener, ceiling: 20, .standard)]
        case .open: return [.open(.ofSystem, opener, ceiling: 20)]
        case .standing: return [.standing(.ofSystem, since: 0)]
        case .lock: return []  // This request would end the test, and reads nothing.
        case .lockAll: return []
        case .status: return [.status]
        case .stop: return [.stop]
        case .list: return [.list(.ofSystem)]
        case .find:
            // Each of these words occurs in every name or in none, and the last word in one name
            // only.
            let names = (1...16).map { "\(entries - $0)" }
            return [
                .find(.ofSystem, names, nil), .find(.ofSystem, [""], time),
                .find(.ofSystem, (1...16).map { String(repeating: " ", count: $0) }, time),
            ]
        case .code: return [.code(.ofSystem, first, time, .none)]
        case .verify:
            let code = CodeComparison(code: "287082", moment: 59, behind: 1, ahead: 1)
            return [.verify(.ofSystem, first, code, .opener(opener))]
        case .lockOut: return [.lockOut(.ofSystem, first)]
        case .check: return [.check(.ofSystem)]
        case .edit: return edits.map { .edit(.ofSystem, $0, .none) }
        case .confirm: return [.confirm(.ofSystem, first, .opener(opener))]
        case .rehearse: return edits.map { .rehearse(.ofSystem, $0) }
        case .prove: return [prove]
        case .undo: return [.undo(.ofSystem, nil)]
        case .merge:
            let folder = try copy(of: agent)
            let copy = try Vault.unlock(at: folder.file("vault"), with: opener)
            // These entries all differ.
            try copy.update { changes throws(VaultError) in
                for id in ids {
                    try changes.setDetails(of: id, to: EntryDetails(tags: ["x"]), now: 9)
                }
            }
            return [.merge(.ofSystem, MergeRequest(try folder.bytes(of: "vault")))]
        case .contents:
            let most = Array(ids[1...AgentRequest.mostContents])
            return [prove, .contents(.ofSystem, most, .none, isUse: false)]
        case .login:
            return [
                .login(
                    .ofSystem,
                    SecretBytes(capacity: 1 << 20) { output in
                        while output.freeCapacity > 0 { output.append(0) }
                    }, .none)
            ]
        case .move:
            let folder = try copy(of: agent)
            let parcel = try Vault.pack(folder.file("vault"))
            return [
                .move(.receive(parcel, opener, ceiling: 20)),
                .move(.give(opener, ceiling: 20)),
            ]
        case .answer: return [.answer(SecretBytes(text: "no question"))]
        case .cancel: return [.cancel]
        }
    }

    @Test("each kind of request at its largest takes at most the memory charged for it")
    func kinds() throws {
        let agent = try Agent()
        // A vault that is held takes four times its size.
        let held = 4 * agent.vault
        // The move comes last, because it locks the vault.
        for kind in AgentRequest.Kind.allCases.filter({ $0 != .move }) + [.move] {
            let requests = try Self.largest(of: kind, agent)
            guard !requests.isEmpty else { continue }
            let size = try requests.map(Self.size).max() ?? 0
            let vault = Int(FileStamp(of: agent.fixture.folder.file("state/0/vault"))?.size ?? 0)
            let charged = MemoryLimits.memory(ofRequest: size, vault: vault)
            let peak = try agent.peak(of: requests)
            print("PEAK \(kind) request \(size) vault \(vault) peak \(peak) charged \(charged)")
            #expect(peak <= held + charged, "\(kind)")
            // `edit` has enlarged the vault; a new agent would take as much memory as this one.
            #expect(try agent.fixture.keyHolder() == agent.process)
        }
    }

    @Test("many large requests at once take as much memory as one of them")
    func together() throws {
        let agent = try Agent()
        let charged = MemoryLimits.memory(ofRequest: 1 << 16, vault: agent.vault)
        let ids = agent.listing.entries.map(\.summary.id)
        let names = (1...16).map { "\(Self.entries - $0)" }
        let requests: [AgentRequest] = [
            .find(.ofSystem, names, nil), .list(.ofSystem), .check(.ofSystem),
            .contents(.ofSystem, Array(ids.prefix(500)), .none, isUse: false),
        ]
        let peak = try agent.peak(
            of: (0..<Self.clients).map { requests[$0 % requests.count] }, atOnce: true)
        print("PEAK together vault \(agent.vault) peak \(peak) charged \(charged)")
        #expect(peak <= 4 * agent.vault + charged)
    }
}
