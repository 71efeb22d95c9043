import TestSupport

@testable import Verification

/// The rotation of an enrolled secret: the server, the device, a thief with a copy, and the network
/// between them.
///
/// The server is the real verifier, and the devices run the real login code. Messages are lost,
/// delayed and duplicated. A message more than a day old no longer arrives, because responses are
/// recorded for a day.
struct LoginModel: StateMachine {
    /// The scope of an exploration.
    struct Setting: Sendable {
        var policy = Policy.standard
        /// Whether two nodes process requests in steps that can interleave; otherwise a request is
        /// answered at once.
        var isInterleaved = false
        /// Whether a thief copies the device's record.
        var hasThief = false
        /// Whether the exploration starts after the owner and the thief have sent the same secret.
        var haveBothSent = false
        /// The number of messages that arrive twice.
        var duplicates = 0
        /// Whether the second version of the keys becomes current.
        var hasKeyRotation = false
        /// Whether an earlier state of the database replaces the current state.
        var hasPutBack = false
        /// The number of logins since the backup when the exploration starts; `nil` to make the
        /// backup later.
        var loginsSinceBackup: Int?
        /// Whether the database is restored with the `restore` command.
        var hasRestore = false
        /// Whether the credential is revoked and the account closed.
        var hasEnd = false
        /// The clock changes to try, in days, and how many may occur.
        var days: [Int64] = []
        var mostTurns = 0
    }

    enum Action: CustomStringConvertible {
        case start(Int), store(Int), kill(Int), timeOut(Int), loseConnection(Int), receive(Int)
        case receiveOther(Int, LoginReply)
        case deliver(Posted, ring: Int, again: Bool)
        case go(node: Int)
        case copy, rotateKeys, turnClock(days: Int64), backUp, rolledBack, restore, revoke, close

        var description: String {
            switch self {
            case .start(let holder): "start of a login by \(Self.name(holder))"
            case .store(let holder): "store by \(Self.name(holder))"
            case .kill(let holder): "kill of \(Self.name(holder))"
            case .timeOut(let holder): "timeout of \(Self.name(holder))"
            case .loseConnection(let holder): "disconnect of \(Self.name(holder))"
            case .receive(let holder): "receive by \(Self.name(holder))"
            case .receiveOther(let holder, let reply):
                "other response to \(Self.name(holder)): \(reply.text)"
            case .deliver(let posted, let ring, let again):
                "deliver \(Self.name(posted.sender))'s \(posted.message.idempotencyKey.prefix(4))"
                    + (ring > 0 ? " to a node with new keys" : "")
                    + (again ? ", which will arrive again" : "")
            case .go(let node): "node \(node) continues"
            case .copy: "copy of the record"
            case .rotateKeys: "rotation of keys"
            case .turnClock(let days): "clock \(days > 0 ? "+" : "")\(days) days"
            case .backUp: "backup"
            case .rolledBack: "put the backup back"
            case .restore: "restore"
            case .revoke: "revoke"
            case .close: "close the account"
            }
        }

        private static func name(_ holder: Int) -> String { holder == 0 ? "owner" : "thief" }
    }

    /// A message in transit and its sender.
    struct Posted: Hashable, Sendable {
        let sender: Int
        let message: LoginMessage
    }

    /// A holder of a record: first the owner, then the thief.
    struct Holder: Sendable {
        var record: DeviceRecord
        var run: DeviceRun?
        /// The response in transit to the run.
        var mail: LoginReply?
        /// Why the record was wiped.
        var wiped: String?
        /// The number of nonces that it has stored.
        var nonces: UInt8 = 0
    }

    /// A request that a node is working on.
    struct Work: Sendable {
        let posted: Posted
        let ring: Int
        let seed: UInt64
        var progress = Progress()
    }

    struct State: Sendable {
        var content: MemoryContent
        var now = LoginService.start
        var holders: [Holder]
        var network: [Posted: Int] = [:]
        var nodes: [Work?] = [nil, nil]
        var duplicates = 0
        /// 0 while all nodes use the old key ring, 1 while some do, 2 when all use the new key
        /// ring.
        var rotation = 0
        var turns = 0
        var backup: (content: MemoryContent, book: LoginOracle)?
        var wasPutBack = false
        /// Not part of the key: gives each decision different random numbers.
        var serial: UInt64 = 1_000
        var book = LoginOracle()
    }

    struct Key: Hashable {
        struct Holder: Hashable {
            let record: [UInt8]
            let start: [UInt8]?
            let steps: [DeviceRun.Step]
            let mail: LoginReply?
            let wiped: String?
            let nonces: UInt8
        }

        struct Node: Hashable {
            let posted: Posted
            let ring: Int
            let rows: [[UInt8]]
            let areCurrent: Bool
            let count: Int
        }

        let row: [UInt8]
        let now: UnixTime
        let holders: [Holder]
        let network: [Posted: Int]
        let nodes: [Node?]
        let counters: [Int]
        let wasPutBack: Bool
        let backup: [UInt8]?
        let book: LoginOracle
        let backupBook: LoginOracle?
    }

    private(set) var initialStates: [State] = []
    let setting: Setting
    let service: LoginService
    let credential: CredentialID
    let outcomes = OutcomeMemory()

    init(_ setting: Setting) async throws {
        self.setting = setting
        service = try LoginService(policy: setting.policy)
        let (content, credential, secret) = try await service.enrol()
        self.credential = credential
        let record = try DeviceRecord(credential: credential.text, secret: secret)
        var state = State(content: content, holders: [Holder(record: record)])
        if let count = setting.loginsSinceBackup {
            state = try await apply(.backUp, to: state)
            for _ in 0..<count { state = try await signedIn(state) }
        }
        if setting.haveBothSent {
            let actions: [Action] = [.copy, .start(0), .store(0), .start(1), .store(1)]
            for action in actions { state = try await apply(action, to: state) }
        }
        initialStates = [state]
    }

    /// The state after an undisturbed login of the owner.
    private func signedIn(_ state: State) async throws -> State {
        var state = try await apply(.start(0), to: state)
        while let run = state.holders[0].run {
            let action: Action
            switch (run.wait, state.network.keys.first) {
            case (.asking, let posted?): action = .deliver(posted, ring: 0, again: false)
            case (.asking, nil): action = .receive(0)
            case (.keeping, _), (.wiping, _), (.nothing, _): action = .store(0)
            }
            state = try await apply(action, to: state)
        }
        return state
    }
}
