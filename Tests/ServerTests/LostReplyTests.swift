import Foundation
import Synchronization
import TestSupport
import Testing

/// The device and the server programs, with a proxy between them that loses, cuts, duplicates and
/// delays messages, while either program may be killed.
@Suite(.serialized) struct LostReplyTests {
    /// A fault during one run of the device's program.
    enum Fault: CaseIterable {
        case requestCut, replyCut, everyReplyLost
        case requestHeld, requestDoubled
        case deviceKilledAtRequest, deviceKilledAtReply, deviceKilledAtEnd
        case serverKilledAtRequest, serverKilledAtReply
    }

    /// One device, one server that can be restarted, and the proxy.
    private final class World: Sendable {
        let harness: LoginHarness
        let proxy: FaultInjectingProxy
        private let scheme: String
        private let server: Mutex<ServerProcess>

        init(scheme: String) async throws {
            harness = try await LoginHarness()
            self.scheme = scheme
            let first = try await World.start(harness, scheme)
            proxy = try FaultInjectingProxy(to: first.port)
            server = Mutex(first)
        }

        private static func start(_ harness: LoginHarness, _ scheme: String) async throws
            -> ServerProcess
        {
            scheme == "https" ? try await harness.server() : try await ServerProcess(harness.state)
        }

        func killServer() { server.withLock { $0.send(SIGKILL) } }

        func restartServer() async throws {
            let dead = server.withLock { $0 }
            #expect(try await dead.ending() == -SIGKILL)
            let next = try await World.start(harness, scheme)
            server.withLock { $0 = next }
            proxy.lead(to: next.port)
        }

        func stop() async throws {
            try await server.withLock { $0 }.stop()
            try await harness.application.stop()
        }

        func enrol() async throws -> ForeignProgram.Outcome {
            try await harness.enrol(proxy.port, scheme: scheme)
        }

        func logged() throws -> String { try server.withLock { $0 }.logged() }

        /// One run of `login present` during which `fault` happens; `generator` chooses where it is
        /// cut.
        ///
        /// - Returns: whether the run failed.
        func present(
            _ fault: Fault, _ generator: inout some RandomNumberGenerator
        ) async throws -> Bool {
            let (request, reply) = proxy.lastLengths
            var wrong = FaultInjectingProxy.Fault()
            let requestPlace = Int.random(in: 1...max(request, 1), using: &generator)
            let replyPlace = Int.random(in: 0...max(reply, 1), using: &generator)
            let device = LoginHarness.Killing()
            let killed = Mutex(false)
            switch fault {
            case .requestCut, .deviceKilledAtRequest, .serverKilledAtRequest:
                wrong.requestLimit = requestPlace
            case .replyCut, .deviceKilledAtReply, .serverKilledAtReply:
                wrong.replyLimit = replyPlace
            case .everyReplyLost: wrong.replyLimit = 0
            case .requestHeld: wrong.isHeld = true
            case .requestDoubled: wrong.isDoubled = true
            case .deviceKilledAtEnd: wrong.atEnd = { device.kill() }
            }
            switch fault {
            case .deviceKilledAtRequest, .deviceKilledAtReply:
                wrong.atLimit = { device.kill() }
            case .serverKilledAtRequest, .serverKilledAtReply:
                wrong.atLimit = { [self] in
                    guard
                        !killed.withLock({ wasKilled in
                            defer { wasKilled = true }
                            return wasKilled
                        })
                    else { return }
                    killServer()
                }
            default: break
            }
            // watchword-courier retries once, and a sign-in may need two exchanges.
            let count = fault == .everyReplyLost ? 4 : Int.random(in: 1...3, using: &generator)
            proxy.expect(Array(repeating: wrong, count: count))
            let outcome = try await harness.present(killing: device)
            proxy.expect([])
            #expect([0, 6, -SIGKILL].contains(outcome.status), "\(fault): \(outcome.words)")
            if killed.withLock({ $0 }) { try await restartServer() }
            return outcome.status != 0
        }
    }

    @Test(
        "R-06 sign-in succeeds after a lost, truncated, duplicate or late message, or after a kill",
        arguments: ["https", "http"])
    func faults(scheme: String) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("lost responses over \(scheme): seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let fixture = try await World(scheme: scheme)
        try await fixture.harness.ticket()
        try #require(try await fixture.enrol().status == 0)
        try #require(try await fixture.harness.present().status == 0)
        var faults = 0
        var failures = 0
        while faults < LostReplyTests.count {
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let fault = try #require(Fault.allCases.randomElement(using: &generator))
                if try await fixture.present(fault, &generator) { failures += 1 }
                faults += 1
            }
            if Bool.random(using: &generator) { fixture.proxy.releaseHeld() }
            let next = try await fixture.harness.present()
            try #require(next.status == 0, "seed \(seed), fault \(faults): \(next.words)")
            #expect(try await fixture.harness.redeem(next.text) == "alice", "seed \(seed)")
        }
        // The proxy must have caused faults.
        #expect(failures >= faults / 5, "seed \(seed): \(failures) of \(faults)")
        fixture.proxy.releaseHeld()
        #expect(try await fixture.harness.present().status == 0, "seed \(seed)")
        #expect(try !fixture.logged().contains("reuse-detected"))
        #expect(try await fixture.harness.state.run("audit", "verify").status == 0)
        try await fixture.stop()
    }

    /// The number of faults per run of the test.
    private static let count = 40

    @Test(
        "R-06 an enrolment whose response is lost at any point can be repeated with the same ticket"
    )
    func enrolment() async throws {
        let fixture = try await World(scheme: "https")
        try await fixture.harness.ticket()
        #expect(try await fixture.enrol().status == 0)
        // The device may end before the proxy has noticed the end of its connection.
        let end = ContinuousClock.now + .seconds(60)
        var (request, reply) = fixture.proxy.lastLengths
        while request == 0 || reply == 0 {
            try #require(ContinuousClock.now < end, "the connection through the proxy does not end")
            try await Task.sleep(for: .milliseconds(5))
            (request, reply) = fixture.proxy.lastLengths
        }
        for place in stride(from: 0, through: reply, by: max(reply / 6, 1)) {
            try await fixture.harness.ticket()
            var lost = FaultInjectingProxy.Fault()
            lost.replyLimit = place
            fixture.proxy.expect([lost, lost])
            let first = try await fixture.enrol()
            #expect(first.status == 0 || first.status == 6, "\(place): \(first.words)")
            fixture.proxy.expect([])
            #expect(try await fixture.enrol().status == 0, "\(place)")
            let present = try await fixture.harness.present()
            #expect(present.status == 0, "\(place): \(present.words)")
            #expect(try await fixture.harness.redeem(present.text) == "alice")
        }
        try await fixture.stop()
    }
}
