import Devices
import TestSupport
import Testing
import WatchwordSystem

/// Helpers that crash, send nothing or lie.
struct FaultyHelperTests {
    private let folder: TemporaryFolder
    /// A request that every helper here ignores.
    private let request: TokenRequest

    init() throws {
        folder = try TemporaryFolder()
        let object = try #require(
            TPMObject(
                publicArea: [1], privateArea: [2], requiresPIN: true, isBoundToPCR7: false))
        request = .unseal(object, in: .standard)
    }

    /// A helper that writes these bytes, and then runs a command.
    private func failure(
        of bytes: [UInt8], then command: String, timeout: Duration = .seconds(20),
        asking person: inout TestPerson
    ) throws -> TokenFailure? {
        let text = bytes.map { "\\" + String($0, radix: 8) }.joined()
        try folder.addProgram("#!/bin/sh\nprintf '\(text)'\n\(command)\n")
        return #expect(throws: TokenFailure.self) {
            try TokenHelper(path: folder.program, timeout: timeout).carryOut(request, with: &person)
        }
    }

    private func frame(_ body: [UInt8]) -> [UInt8] { [UInt8(body.count), 0, 0, 0] + body }

    private var ready: [UInt8] { frame([1, 4]) }

    @Test("a helper that sends nothing is killed at the deadline")
    func silent() throws {
        var nobody = TestPerson()
        let started = ContinuousClock.now
        #expect(
            try failure(
                of: ready, then: "exec /bin/sleep 60", timeout: .milliseconds(300), asking: &nobody)
                == .timedOut)
        #expect(ContinuousClock.now - started < .seconds(10))
    }

    @Test("a helper that is killed while it waits for the PIN is reported")
    func killed() throws {
        var person = TestPerson("1234")
        let asks = frame([2, 0, 1, 0, 0, 0, 3])
        // The request and the PIN have 52 bytes. If the helper ended before it reads them, the test
        // would end with SIGPIPE.
        let failure = try failure(
            of: ready + asks, then: "/usr/bin/head -c 52 >/dev/null; kill -9 $$", asking: &person)
        #expect(failure == .helper(.died(.killed)))
        #expect(person.questions == [.init(isRepeated: false, left: 3)])
    }

    @Test("a helper that ends without an answer is reported")
    func ended() throws {
        var nobody = TestPerson()
        #expect(
            try failure(of: ready, then: "/usr/bin/head -c 4 >/dev/null; exit 6", asking: &nobody)
                == .helper(.died(.exited(6))))
        #expect(
            try failure(of: [], then: "exit 127", asking: &nobody) == .helper(.died(.exited(127))))
    }

    @Test("a helper of a different version is not used")
    func otherVersion() throws {
        var nobody = TestPerson()
        #expect(
            try failure(of: frame([1, 9]), then: "exec /bin/sleep 60", asking: &nobody)
                == .helper(.otherVersion))
    }

    @Test(
        "an answer that breaks the protocol is refused",
        arguments: [
            [0, 0, 0, 0], [0, 0, 1, 0], [255, 255, 255, 255],  // sizes
            [1, 0, 0, 0, 99], [1, 0, 0, 0, 1], [2, 0, 0, 0, 1, 1],  // kinds
            // A secret that is too short, and a secret with a byte after it.
            [7, 0, 0, 0, 4, 5, 0, 0, 0, 1, 9],
            [6 + 33, 0, 0, 0, 4, 5, 0, 0, 0, 32] + [UInt8](repeating: 7, count: 33),
            // A refusal of an unknown kind, and a failed call without a name.
            [3, 0, 0, 0, 5, 0, 99], [7, 0, 0, 0, 5, 2, 0, 0, 0, 0, 0],
            // Failures that only this side reports: a timeout, and that the helper was not found.
            [3, 0, 0, 0, 5, 0, 18], [3, 0, 0, 0, 5, 5, 0],
            // An empty object.
            [12, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]])
    func broken(answer: [UInt8]) throws {
        var nobody = TestPerson()
        #expect(
            try failure(of: ready + answer, then: "exec /bin/sleep 60", asking: &nobody)
                == .badHelperResponse)
    }

    @Test("a helper that keeps asking for a PIN is stopped")
    func endless() throws {
        var person = TestPerson("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12")
        let asks = frame([2, 1, 1, 0, 0, 0, 3])
        let all = (0..<20).flatMap { _ in asks }
        #expect(
            try failure(of: ready + all, then: "exec /bin/sleep 60", asking: &person)
                == .badHelperResponse)
        #expect(person.questions.count < 12)
    }

    @Test("a missing helper is reported")
    func missing() throws {
        var nobody = TestPerson()
        #expect(throws: TokenFailure.helper(.notFound)) {
            try TokenHelper(path: folder.file("none")).carryOut(request, with: &nobody)
        }
    }
}
