import TestSupport

@testable import Verification

/// The rotation of an enrolled secret: the server, the device, a second holder of a copy, and the network
/// between them.
///
/// The server is the real verifier, the devices run the real sign-in. Messages are lost, delayed and
/// duplicated; a message that is a day old does not arrive any more, because recorded answers are kept for
/// as long.
struct LoginModel: StateMachine {
    /// What is explored.
    struct Setting: Sendable {
        var policy = Policy.standard
        /// Whether two nodes work on requests in steps, between which the other may work; otherwise a
        /// request is answered at once.
        var isInterleaved = false
        /// Whether somebody copies the device's record.
        var hasThief = false
        /// Whether the exploration begins when the owner and the thief have sent the same secret.
        var haveBothSent = false
        /// How many messages arrive once more.
        var duplicates = 0
        /// Whether the second version of the keys becomes the current one.
        var hasKeyRotation = false
        /// How often an earlier state of the database takes the place of the newer one.
        var hasPutBack = false
        /// How many logins there were since the backup when the exploration begins; nil to make the backup
        /// later.
        var loginsSinceBackup: Int?
        /// Whether the database is restored as the verb `restore` does it.
        var hasRestore = false
        /// Whether the credential is revoked, and the account closed.
        var hasEnd = false
        /// By how many days the clock may be turned, and how often.
        var days: [Int64] = []
        var mostTurns = 0
    }

    enum Action: CustomStringConvertible {
        case start(Int), store(Int), kill(Int), timeOut(Int), loseConnection(Int), receive(Int)
        case receiveOther(Int, LoginReply)
        case deliver(Posted, ring: Int, again: Bool)
        case go(node: Int)
        case copy, rotateKeys, turnClock(days: Int64), backUp, putBack, restore, revoke, close

        var description: String {
            switch self {
            case .start(let holder): "start of a sign-in by \(Self.name(holder))"
            case .store(let holder): "store by \(Self.name(holder))"
            case .kill(let holder): "kill of \(Self.name(holder))"
            case .timeOut(let holder): "timeout of \(Self.name(holder))"
            case .loseConnection(let holder): "disconnect of \(Self.name(holder))"
            case .receive(let holder): "receive by \(Self.name(holder))"
            case .receiveOther(let holder, let reply):
                "other answer to \(Self.name(holder)): \(reply.text)"
            case .deliver(let posted, let ring, let again):
                "deliver \(Self.name(posted.sender))'s \(posted.message.idempotencyKey.prefix(4))"
                    + (ring > 0 ? " to a node with new keys" : "")
                    + (again ? ", which will arrive once more" : "")
            case .go(let node): "node \(node) goes on"
            case .copy: "copy of the record"
            case .rotateKeys: "rotation of keys"
            case .turnClock(let days): "clock \(days > 0 ? "+" : "")\(days) days"
            case .backUp: "backup"
            case .putBack: "put the backup back"
            case .restore: "restore"
            case .revoke: "revoke"
            case .close: "close the account"
            }
        }

        private static func name(_ holder: Int) -> String { holder == 0 ? "owner" : "thief" }
    }

    /// A message on its way, and who sent it.
    struct Posted: Hashable, Sendable {
        let sender: Int
        let message: LoginMessage
    }

    /// Who has a record: the owner first, the thief second.
    struct Holder: Sendable {
        var record: DeviceRecord
        var run: DeviceRun?
        /// The reply that is on its way to the run.
        var mail: LoginReply?
        /// Why the record was wiped.
        var wiped: String?
        /// How many nonces it has kept.
        var nonces: UInt8 = 0
    }

    /// A request that a node works on.
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
        /// 0 while all nodes have the old ring, 1 while some have, 2 when all have the new one.
        var rotation = 0
        var turns = 0
        var backup: (content: MemoryContent, book: LoginBook)?
        var wasPutBack = false
        /// Not part of the key: it makes each decision's random numbers others.
        var serial: UInt64 = 1_000
        var book = LoginBook()
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
        let book: LoginBook
        let backupBook: LoginBook?
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

    /// The state after a sign-in of the owner that nothing disturbs.
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
