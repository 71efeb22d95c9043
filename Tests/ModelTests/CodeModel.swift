import OneTimePassword
import TestSupport
import WatchwordCryptography

@testable import Verification

/// The decision on a one-time password: two nodes on one store, a clock that jumps, and a restore.
///
/// Any code may be presented at any time, by anyone. This covers an authenticator whose clock
/// drifts, replays and guesses. A restore discards the requests in progress, because the nodes are
/// stopped during a real restore.
struct CodeModel: StateMachine {
    enum Request: Hashable, Sendable {
        /// Presents the code of a step.
        case code(UInt64)
        case wrongCode
        /// Presents two consecutive codes; the second code belongs to this step.
        case resynchronization(UInt64)
        case confirmation(UInt64)
    }

    enum Action: CustomStringConvertible {
        case begin(node: Int, Request)
        case go(node: Int)
        case turnClock(seconds: Int64)
        case backUp
        case restore

        var description: String {
            switch self {
            case .begin(let node, let request): "request at node \(node): \(request)"
            case .go(let node): "node \(node) continues"
            case .turnClock(let seconds): "clock \(seconds > 0 ? "+" : "")\(seconds) s"
            case .backUp: "backup"
            case .restore: "restore"
            }
        }
    }

    /// A request that a node is working on.
    struct Work: Sendable {
        let request: Request
        let seed: UInt64
        var progress = Progress()
    }

    struct State: Sendable {
        var content: MemoryContent
        var now: UnixTime
        var latest: UnixTime
        var nodes: [Work?] = [nil, nil]
        var backup: (content: MemoryContent, book: CodeOracle)?
        var wasRestored = false
        var turns = 0
        /// Not part of the key: gives each decision different random numbers.
        var serial: UInt64 = 1_000
        var book: CodeOracle
    }

    struct Key: Hashable {
        struct Node: Hashable {
            let request: Request
            let times: [UnixTime]
            let rows: [[UInt8]]
            let areCurrent: Bool
            let count: Int
        }

        let row: [UInt8]
        let now: UnixTime
        let latest: UnixTime
        let nodes: [Node?]
        let backup: [UInt8]?
        let wasRestored: Bool
        let turns: Int
        let book: CodeOracle
        let backupBook: CodeOracle?
    }

    let initialStates: [State]
    private let setting: Setting

    /// The scope of an exploration.
    struct Setting: Sendable {
        var policy: Policy
        /// Whether a request is processed in steps that can interleave with the other node's;
        /// otherwise all at once.
        var isInterleaved: Bool
        /// The clock changes to try, in seconds, and how many may occur.
        var turns: [Int64]
        var mostTurns: Int
        /// The steps of the second of two codes, relative to the expected step.
        var resynchronizations: [Int]
        var hasRestore: Bool
        /// Whether the exploration also starts before the enrolment is confirmed.
        var isPending = false
    }

    private let ring: KeyRing
    private let authenticator: Credential
    private let credential: CredentialID
    private let subject: Subject
    private let wrongCode: PresentedCode

    init(_ setting: Setting) async throws {
        self.setting = setting
        ring = try KeyRing.make(randomness: .seeded(1))
        guard let subject = Subject("alice") else {
            preconditionFailure("alice is a valid subject")
        }
        self.subject = subject
        let key = SecretBytes(copying: Array("a key of twenty byte".utf8).span)
        let enrolment = try OneTimePasswordEnrolment(
            issuer: "", account: "alice", digits: 8, key: key)
        authenticator = try Credential(
            issuer: "", account: "alice", key: key, algorithm: .sha1,
            style: .decimal(.eight))
        let now = UnixTime(seconds: 1_795_000_005)
        let start = UInt64(now.seconds / 30)
        wrongCode = try Self.findWrongCode(of: authenticator.generator(), near: start)

        var content = MemoryContent(
            chain: EventChain(node: [UInt8](repeating: 1, count: 16), key: ring.auditKey))
        var progress = Progress()
        let outcome = try await SteppedStore.run(
            on: &content, auditKey: ring.auditKey, keys: ring, policy: setting.policy, at: now,
            randomness: 2, progress: &progress, operations: .max
        ) { verifier throws(VerifierError) in
            try await verifier.enrolOneTimePassword(enrolment, for: subject)
        }
        guard case .granted(let grant) = outcome else {
            preconditionFailure("the enrolment must be granted")
        }
        credential = grant.credential
        let pending = State(
            content: content, now: now, latest: now, book: CodeOracle(setting.policy))
        progress = Progress()
        let code = try PresentedCode(authenticator.generator().code(at: start))
        _ = try await SteppedStore.run(
            on: &content, auditKey: ring.auditKey, keys: ring, policy: setting.policy, at: now,
            randomness: 3, progress: &progress, operations: .max
        ) { verifier throws(VerifierError) in
            try await verifier.confirm(grant.credential, code: code)
        }
        var active = State(
            content: content, now: now, latest: now, book: CodeOracle(setting.policy))
        active.book.accepted = [start]
        initialStates = setting.isPending ? [pending, active] : [active]
    }

    private static func findWrongCode(
        of generator: borrowing CodeGenerator, near step: UInt64
    ) throws -> PresentedCode {
        for number in 10_000_000..<20_000_000 {
            let digits = Array(String(number).utf8)
            let found = generator.match(digits.span, around: step, behind: 9_000, ahead: 9_000)
            guard found == nil else { continue }
            return try PresentedCode(digits.span)
        }
        preconditionFailure("the window cannot contain all these codes")
    }

    // MARK: The actions

    func actions(in state: State) -> [Action] {
        var actions: [Action] = []
        let requests = requests(in: state)
        for node in setting.isInterleaved ? [0, 1] : [0] {
            if state.nodes[node] == nil {
                actions += requests.map { .begin(node: node, $0) }
            } else {
                actions.append(.go(node: node))
            }
        }
        if state.turns < setting.mostTurns {
            actions += setting.turns.map { .turnClock(seconds: $0) }
        }
        if setting.hasRestore {
            if state.backup == nil { actions.append(.backUp) }
            // A restore while the clock is behind cannot account for the steps that were accepted
            // while the clock was ahead.
            if state.backup != nil, !state.wasRestored, state.now >= state.latest {
                actions.append(.restore)
            }
        }
        return actions
    }

    private func requests(in state: State) -> [Request] {
        guard let password = password(in: state.content),
            let expected = password.expectedStep(at: state.now)
        else { return [.wrongCode] }
        guard record(in: state.content)?.state == .active else {
            return (-1...1).compactMap { expected.advanced(byChecking: $0) }.map {
                .confirmation($0)
            } + [.wrongCode]
        }
        // One step beyond the window, which may be inside it by the time the node continues.
        let codes = (-1...2).compactMap { expected.advanced(byChecking: $0) }
        let pairs = setting.resynchronizations.compactMap { expected.advanced(byChecking: $0) }
        return codes.map { .code($0) } + [.wrongCode] + pairs.map { .resynchronization($0) }
    }

    func apply(_ action: Action, to state: State) async throws -> State {
        var state = state
        switch action {
        case .begin(let node, let request):
            state.serial += 1
            state.nodes[node] = Work(request: request, seed: state.serial)
            // No store operation yet, but the clock has been read.
            try await advance(node, &state, operations: setting.isInterleaved ? 0 : .max)
        case .go(let node): try await advance(node, &state, operations: 1)
        case .turnClock(let seconds):
            state.turns += 1
            state.now = state.now.adding(seconds: seconds)
            state.latest = max(state.latest, state.now)
        case .backUp: state.backup = (state.content, state.book)
        case .restore: try restore(&state)
        }
        return state
    }

    private func advance(_ node: Int, _ state: inout State, operations: Int) async throws {
        guard var work = state.nodes[node] else { return }
        let before = state.content
        let request = work.request
        let codes = try codes(for: request)
        let outcome = try await SteppedStore.run(
            on: &state.content, auditKey: ring.auditKey, keys: ring, policy: setting.policy,
            at: state.now, randomness: work.seed, progress: &work.progress, operations: operations
        ) { verifier throws(VerifierError) in
            switch request {
            case .code, .wrongCode: try await verifier.verify(codes[0], subject: subject)
            case .confirmation: try await verifier.confirm(credential, code: codes[0])
            case .resynchronization:
                try await verifier.resynchronize(credential, first: codes[0], second: codes[1])
            }
        }
        state.nodes[node] = outcome == nil ? work : nil
        guard let outcome, let now = work.progress.times.last else { return }
        state.book.enter(
            outcome.result, to: request, at: now, before: password(in: before),
            after: password(in: state.content))
    }

    private func codes(for request: Request) throws -> [PresentedCode] {
        switch request {
        case .code(let step), .confirmation(let step):
            [try PresentedCode(authenticator.generator().code(at: step))]
        case .wrongCode: [wrongCode]
        case .resynchronization(let step):
            [
                try PresentedCode(authenticator.generator().code(at: step - 1)),
                try PresentedCode(authenticator.generator().code(at: step)),
            ]
        }
    }

    /// Does what the stores do on a restore.
    private func restore(_ state: inout State) throws {
        guard let (content, book) = state.backup else { return }
        state.content = content
        state.nodes = [nil, nil]
        state.wasRestored = true
        if let row = content.credentials[credential],
            let restored = try row.afterRestoring(at: state.now)
        {
            state.content.apply(.updateCredential(restored.row))
        }
        state.book.restore(book)
    }

    // MARK: The states

    private func record(in content: MemoryContent) -> CredentialRecord? {
        do throws(VerifierError) {
            return try content.credentials[credential].map { row throws(VerifierError) in
                try CredentialRecord(row)
            }
        } catch { return nil }
    }

    private func password(in content: MemoryContent) -> TOTPState? {
        guard case .time(let password) = record(in: content)?.material else { return nil }
        return password
    }

    func key(of state: State) -> Key {
        let version = state.content.credentials[credential]?.version
        return Key(
            row: state.content.credentials[credential].map(canonical) ?? [], now: state.now,
            latest: state.latest,
            nodes: state.nodes.map { work in
                work.map { work in
                    let rows = work.progress.credentials
                    return Key.Node(
                        request: work.request, times: work.progress.times,
                        rows: rows.map(canonical),
                        areCurrent: rows.allSatisfy { $0.version == version },
                        count: work.progress.count)
                }
            },
            backup: state.backup?.content.credentials[credential].map(canonical),
            wasRestored: state.wasRestored, turns: state.turns, book: state.book,
            backupBook: state.backup?.book)
    }

    /// The bytes that a decision depends on.
    ///
    /// The time of the last use is not among them.
    private func canonical(_ row: CredentialRow) -> [UInt8] {
        do throws(VerifierError) {
            var record = try CredentialRecord(row)
            record.lastUsedAt = nil
            record.confirmedAt = nil
            return Array(record.state.rawValue.utf8) + record.row.body
        } catch { return row.body }
    }

    func violation(in state: State) -> String? {
        if let violation = state.book.violation { return violation }
        guard let record = record(in: state.content) else { return "the row is unreadable" }
        let failures = record.throttle.failures
        if record.state == .active, failures != state.book.failures {
            return "\(state.book.failures) failures, but \(failures) are counted"
        }
        if record.state == .disabled, !state.book.isDisabled { return "disabled too early" }
        guard let password = password(in: state.content) else { return nil }
        if password.drift.magnitude > CodeOracle.mostDrift {
            return "the tracked drift is \(password.drift) steps"
        }
        return nil
    }
}

extension PresentedCode {
    init(_ code: Code) throws(VerifierError) {
        let characters = Array(code.text.utf8)
        try self.init(characters.span)
    }
}
