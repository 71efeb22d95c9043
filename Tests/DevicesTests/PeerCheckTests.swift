import Foundation
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Devices

/// The check of the user at the other end of a connection, with real modules.
struct PeerCheckTests {
    /// Starts a stack's program for each connection to a socket, as the service manager does.
    private final class Manager: Sendable {
        let path: String
        private let thread: WorkerThread

        init(_ stack: Stack, connections: Int = 1) throws {
            let (path, program) = (stack.folder.file("presence.socket"), stack.program)
            self.path = path
            let listener = try LocalSocket.listen(at: path)
            let box = Listener(socket: listener)
            thread = try #require(
                WorkerThread {
                    do {
                        for _ in 0..<connections { try box.serve(with: program) }
                    } catch {
                        Issue.record(error)
                    }
                })
        }

        deinit { thread.join() }

        private final class Listener: Sendable {
            private let socket: FileDescriptor

            init(socket: consuming FileDescriptor) { self.socket = socket }

            func serve(with program: String) throws {
                _ = try Polling.ready(of: [.reading(socket)], timeout: .seconds(60))
                let connection = try LocalSocket.accept(from: socket)
                let process = Process()
                process.executableURL = URL(fileURLWithPath: program)
                process.arguments = ["--peer"]
                process.environment = [:]
                let file = FileHandle(fileDescriptor: connection.number, closeOnDealloc: false)
                process.standardInput = file
                process.standardOutput = file
                try process.start()
                process.waitUntilExit()
            }
        }
    }

    /// Lends one end of a connection to another thread.
    private final class Connection: Sendable {
        private let file: FileDescriptor

        init(_ file: consuming FileDescriptor) { self.file = file }

        func check(_ path: String) -> Result<Bool, PAMCheckFailure> {
            do throws(PAMCheckFailure) {
                return .success(
                    try PeerCheck(socket: path).isPresent(on: file, timeout: .seconds(60)))
            } catch {
                // As the server does, so that the user's program does not wait for a verdict.
                file.shutDown()
                return .failure(error)
            }
        }

        /// The verdict that the user's program gets after these answers; `nil` if it gets none.
        func answer(_ answers: [String]) throws -> Bool? {
            try file.setBlocking(false)
            var rest = answers[...]
            let relay = try ModuleRelay(file, until: .now + .seconds(60))
            let told = ifPossible(
                try relay.verdict(unless: nil) { _ throws(PAMCheckFailure) in
                } asking: { _, _, _ throws(PAMCheckFailure) in
                    guard let answer = rest.popFirst() else { throw PAMCheckFailure(.cancelled) }
                    return SecretBytes(text: answer)
                })
            if told == nil { file.shutDown() }
            return told
        }
    }

    private static func stack(_ what: String) throws -> Stack {
        let stack = try Stack([])
        let module = try Stack.strange.get()
        let lines = "auth required \(module) \(what)\naccount required \(module)\n"
        try stack.folder.write(Array(lines.utf8), to: "pam.d/watchword-enrol")
        return stack
    }

    /// The verdicts that the server and the user's program get after these answers.
    private static func outcome(
        _ stack: Stack, answers: [String]
    ) async throws -> (server: Result<Bool, PAMCheckFailure>, user: Bool?) {
        let manager = try Manager(stack)
        let pair = try SocketPair()
        let user = Connection(try pair.second.duplicate())
        let server = Connection(pair.takeFirst())
        async let checked = onOwnThread { server.check(manager.path) }
        let told = try await onOwnThread { try user.answer(answers) }
        return (try await checked, told)
    }

    @Test(
        "the server learns what the modules decide about the user's answers",
        arguments: [(["Unseen", "herring"], true), (["Unseen", "cod"], false)])
    func verdict(answers: [String], isPresent: Bool) async throws {
        let outcome = try await Self.outcome(Self.stack("asks-twice"), answers: answers)
        #expect(outcome.server == .success(isPresent) && outcome.user == isPresent)
    }

    @Test("a user who leaves before an answer is not present")
    func left() async throws {
        let outcome = try await Self.outcome(Self.stack("asks-twice"), answers: [])
        guard case .failure(let failure) = outcome.server else {
            Issue.record("the modules decided: \(outcome.server)")
            return
        }
        #expect(failure.reason == .failed(PAMCallFailure(call: .authenticate, code: 19)))
    }

    @Test("modules that crash return no verdict")
    func crash() async throws {
        let outcome = try await Self.outcome(Self.stack("crashes"), answers: [])
        #expect(outcome.server == .failure(PAMCheckFailure(.ended(.unknown))))
        #expect(outcome.user == nil)
    }

    @Test("the PAM service `watchword` does not replace the PAM service for enrolments")
    func otherService() async throws {
        let outcome = try await Self.outcome(Stack(strange: "permits"), answers: [])
        #expect(outcome.server == .failure(PAMCheckFailure(.noServiceFile)))
        #expect(outcome.user == nil)
    }

    @Test("without the service manager's socket, there is no verdict")
    func noProgram() throws {
        let folder = try TemporaryFolder()
        let outcome = Connection(try SocketPair().takeFirst()).check(folder.file("presence"))
        #expect(outcome == .failure(PAMCheckFailure(.programNotFound)))
    }
}
