import Foundation
import Synchronization
import TestSupport
import Testing

/// The device and the server programs, with a proxy between them that loses, cuts, duplicates and
/// delays, while either program is killed.
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
        let desk: SignInDesk
        let road: FaultyRoad
        private let scheme: String
        private let server: Mutex<ServerProcess>

        init(scheme: String) async throws {
            desk = try await SignInDesk()
            self.scheme = scheme
            let first = try await World.start(desk, scheme)
            road = try FaultyRoad(to: first.port)
            server = Mutex(first)
        }

        private static func start(_ desk: SignInDesk, _ scheme: String) async throws
            -> ServerProcess
        {
            scheme == "https" ? try await desk.server() : try await ServerProcess(desk.state)
        }

        func killServer() { server.withLock { $0.send(SIGKILL) } }

        func restartServer() async throws {
            let dead = server.withLock { $0 }
            #expect(try await dead.ending() == -SIGKILL)
            let next = try await World.start(desk, scheme)
            server.withLock { $0 = next }
            road.lead(to: next.port)
        }

        func stop() async throws {
            try await server.withLock { $0 }.stop()
            try await desk.application.stop()
        }

        func enrol() async throws -> ForeignProgram.Outcome {
            try await desk.enrol(road.port, scheme: scheme)
        }

        func logged() throws -> String { try server.withLock { $0 }.logged() }

        /// One run of `login present` during which `fault` happens; `generator` chooses where it is
        /// cut.
        ///
        /// - Returns: whether the run failed.
        func present(
            _ fault: Fault, _ generator: inout some RandomNumberGenerator
        ) async throws -> Bool {
            let (request, reply) = road.lastLengths
            var wrong = FaultyRoad.Fault()
            let requestPlace = Int.random(in: 1...max(request, 1), using: &generator)
            let replyPlace = Int.random(in: 0...max(reply, 1), using: &generator)
            let device = SignInDesk.Killing()
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
            road.expect(Array(repeating: wrong, count: count))
            let outcome = try await desk.present(killing: device)
            road.expect([])
            #expect([0, 6, -SIGKILL].contains(outcome.status), "\(fault): \(outcome.words)")
            if killed.withLock({ $0 }) { try await restartServer() }
            return outcome.status != 0
        }
    }

    @Test(
        "R-06 after any loss, cut, duplicate, delay or kill, the owner signs in with the next run",
        arguments: ["https", "http"])
    func faults(scheme: String) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("lost responses over \(scheme): seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let world = try await World(scheme: scheme)
        try await world.desk.ticket()
        try #require(try await world.enrol().status == 0)
        try #require(try await world.desk.present().status == 0)
        var faults = 0
        var failures = 0
        while faults < LostReplyTests.count {
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let fault = try #require(Fault.allCases.randomElement(using: &generator))
                if try await world.present(fault, &generator) { failures += 1 }
                faults += 1
            }
            if Bool.random(using: &generator) { world.road.releaseHeld() }
            let next = try await world.desk.present()
            try #require(next.status == 0, "seed \(seed), fault \(faults): \(next.words)")
            #expect(try await world.desk.redeem(next.text) == "alice", "seed \(seed)")
        }
        // The proxy did cause faults.
        #expect(failures >= faults / 5, "seed \(seed): \(failures) of \(faults)")
        world.road.releaseHeld()
        #expect(try await world.desk.present().status == 0, "seed \(seed)")
        #expect(try !world.logged().contains("reuse-detected"))
        #expect(try await world.desk.state.run("audit", "verify").status == 0)
        try await world.stop()
    }

    /// The number of faults per run of the test.
    private static let count = 40

    @Test(
        "R-06 an enrolment whose response is lost at any point can be repeated with the same ticket"
    )
    func enrolment() async throws {
        let world = try await World(scheme: "https")
        try await world.desk.ticket()
        #expect(try await world.enrol().status == 0)
        let (request, reply) = world.road.lastLengths
        try #require(request > 0 && reply > 0)
        for place in stride(from: 0, through: reply, by: max(reply / 6, 1)) {
            try await world.desk.ticket()
            var lost = FaultyRoad.Fault()
            lost.replyLimit = place
            world.road.expect([lost, lost])
            let first = try await world.enrol()
            #expect(first.status == 0 || first.status == 6, "\(place): \(first.words)")
            world.road.expect([])
            #expect(try await world.enrol().status == 0, "\(place)")
            let present = try await world.desk.present()
            #expect(present.status == 0, "\(place): \(present.words)")
            #expect(try await world.desk.redeem(present.text) == "alice")
        }
        try await world.stop()
    }
}
