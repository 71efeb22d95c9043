import Glibc
import LocalSockets
import OneTimePassword
import Synchronization
import TestSupport
import Testing
import Verification
import WatchwordCryptography
import WatchwordSystem

@testable import LocalEnrolment

/// A desk with an in-memory store, for the user of this process.
final class EnrolmentFixture: Sendable {
    let verifier: Verifier
    let desk: EnrolmentDesk
    let subject: Subject
    let world = World()

    /// The dependencies of the desk.
    final class World: Sendable {
        private struct State {
            var now = UnixTime(seconds: 1_795_000_000)
            var password: Bool? = true
            var checks = 0
            var changes: [OwnChange] = []
        }

        private let state = Mutex(State())

        /// The server's clock.
        var now: UnixTime { state.withLock { $0.now } }

        /// The modules' decision about the login password; `nil` if they cannot decide.
        var password: Bool? {
            get { state.withLock { $0.password } }
            set { state.withLock { $0.password = newValue } }
        }

        /// The number of checks by the modules.
        var checks: Int { state.withLock { $0.checks } }

        /// The changes that the desk has reported.
        var changes: [OwnChange] { state.withLock { $0.changes } }

        func check() -> Bool? {
            state.withLock { state in
                state.checks += 1
                return state.password
            }
        }

        func note(_ news: EnrolmentNews) {
            guard case .changed(_, let change) = news else {
                Issue.record("\(news)")
                return
            }
            state.withLock { $0.changes.append(change) }
        }

        func advance(seconds: Int64) {
            state.withLock { state in
                state.now = UnixTime(seconds: state.now.milliseconds / 1_000 + seconds)
            }
        }
    }

    init() throws {
        let ring = try KeyRing.make()
        let store = MemoryStore(node: [UInt8](repeating: 1, count: 16), key: ring.auditKey)
        let world = world
        verifier = Verifier(store: store, keys: ring, clock: { world.now })
        let name = try #require(UserDatabase.name(of: getuid()))
        subject = try #require(Subject("unix:mill.example:\(name)"))
        desk = EnrolmentDesk(
            EnrolmentServices(
                verifier: verifier, realm: try #require(Realm("mill.example")),
                limiter: .ofAttempts(), checkPassword: { _ in world.check() },
                tell: { world.note($0) }))
    }

    /// A program of the user that begins with a task.
    func program(_ task: EnrolmentTask) async throws -> UserProgram {
        let program = try UserProgram(desk)
        try await program.send(.begin(version: EnrolmentRequest.version, task))
        return program
    }

    /// Enrols the user's first authenticator; returns it, and the recovery codes.
    func enrolFirst() async throws -> (authenticator: Authenticator, codes: [SecretBytes]) {
        let program = try await program(.add(name: "phone"))
        guard case .checksPassword = try await program.next() else { throw UnexpectedResponse() }
        let authenticator = try await program.confirmKey(at: world.now)
        guard case .recoveryCodes(let codes) = try await program.next(),
            case .done = try await program.next()
        else { throw UnexpectedResponse() }
        // The first code is spent by the enrolment.
        world.advance(seconds: 60)
        return (authenticator, codes)
    }

    /// The credentials that the user sees, authenticators first, by name: the clock stands still
    /// while they are created, so the program lists them in any order.
    func list() async throws -> [OwnCredential] {
        let program = try await program(.list)
        guard case .credentials(let credentials) = try await program.next(),
            case .done = try await program.next()
        else { throw UnexpectedResponse() }
        return credentials.sorted { ($0.kind, $1.name) > ($1.kind, $0.name) }
    }

    func events() async throws -> [Event] {
        try await verifier.events(after: 0, limit: .max).compactMap(\.event)
    }
}

/// The desk did not respond as expected.
struct UnexpectedResponse: Error {}

/// An authenticator app, set up from a key URI.
struct Authenticator: Sendable {
    let entry: Credential

    init(_ uri: SecretBytes) throws {
        entry = try uri.withBytes { try KeyURI(parsing: $0, reading: .strict).credential }
    }

    func code(at time: UnixTime) throws -> String {
        let step = try entry.step(atUnixTime: time.milliseconds / 1_000)
        return entry.generator().code(at: step).text
    }
}

/// The user's end of a connection; it blocks only its own threads.
final class UserProgram: Sendable {
    private let file: FileDescriptor
    private let frames: FrameConnection

    init(_ desk: EnrolmentDesk, user: UInt32 = getuid()) throws {
        let pair = try SocketPair()
        file = try pair.second.duplicate()
        frames = FrameConnection(try pair.second.duplicate())
        let peer = LocalSocket.Peer(user: user, process: getpid())
        desk.begin(pair.takeFirst(), peer: peer)
    }

    func send(_ request: EnrolmentRequest) async throws {
        try await send { try FrameWriter(request) }
    }

    func send(_ frame: @escaping @Sendable () throws -> FrameWriter) async throws {
        _ = try await onOwnThread { [frames] in
            try frames.send(frame(), timeout: .seconds(60))
        }
    }

    func answer(_ text: String) async throws {
        try await send(.answer(SecretBytes(text: text)))
    }

    /// The next response; `nil` if the desk has closed the connection.
    func next() async throws -> EnrolmentResponse? {
        try await onOwnThread { [frames] in
            let received = try frames.receive(
                limit: EnrolmentResponse.largest, idleTime: .seconds(60), timeout: nil)
            guard case .frame(let frame) = received else { return nil }
            return frame.value(as: EnrolmentResponse.self)
        }
    }

    /// The reason for refusing the task; `nil` if the task is not refused.
    func refusal() async throws -> TaskRefusal? {
        guard case .refused(let refusal)? = try await next() else { return nil }
        return refusal
    }

    /// The current question, and whether the last answer was denied; `nil` without a question.
    func question() async throws -> (EnrolmentQuestion, Bool)? {
        guard case .asks(let question, let isRepeated)? = try await next() else { return nil }
        return (question, isRepeated)
    }

    /// Answers the next question, which must be the only one.
    func answer(_ text: String, to expected: EnrolmentQuestion) async throws {
        guard let (question, _) = try await question(), question == expected else {
            throw UnexpectedResponse()
        }
        try await answer(text)
    }

    /// Sets up an authenticator, and presents its first code.
    func confirmKey(at now: UnixTime) async throws -> Authenticator {
        guard case .key(let uri)? = try await next() else { throw UnexpectedResponse() }
        let authenticator = try Authenticator(uri)
        try await answer(authenticator.code(at: now), to: .firstCode)
        return authenticator
    }

    /// Ends the connection of the program.
    func leave() { file.shutDown() }
}
