import Courier
import Cryptography
import POSIX
import TestSupport
import Testing

/// What a courier can do that a hostile server has taken over: nothing but talk to that server, and lie.
@Suite struct ConfinedCourierTests {
    private func make(_ order: String, over server: LoginServer) throws -> CourierAnswer {
        let courier = try Courier(path: BuiltProgram.path("FaultyCourier"), timeout: .seconds(60))
        return try courier.carry(
            Errand(
                server: try ServerAddress(parsing: "http://127.0.0.1:\(server.port)"),
                authorities: [], idempotencyKey: "k",
                question: .enrolment(ticket: SecretBytes(text: "wwt_a"), deviceName: order)))
    }

    static let endings: [(String, ChildProcess.Ending)] = [
        ("trap", .crashed(signal: 4)), ("abort", .crashed(signal: 6)), ("leave", .exited(0)),
        ("open a socket", .forbiddenCall), ("fork", .forbiddenCall),
        ("run a program", .forbiddenCall), ("signal the parent", .forbiddenCall),
        ("duplicate a descriptor", .forbiddenCall), ("use another descriptor", .forbiddenCall),
        ("filter the socket", .forbiddenCall), ("map executable memory", .forbiddenCall),
    ]

    @Test("it dies of what it may not do, and that is told", arguments: endings)
    func forbidden(order: String, ending: ChildProcess.Ending) throws {
        let server = try LoginServer()
        #expect(throws: CourierFailure.died(ending)) { try make(order, over: server) }
    }

    @Test(
        "what breaks the rules of the pipe is no answer",
        arguments: ["speak of nothing", "speak for ever"])
    func rules(order: String) throws {
        let server = try LoginServer()
        #expect(throws: CourierFailure.badAnswer) { try make(order, over: server) }
    }

    @Test("a file that it opens is refused, and its connection leads nowhere else")
    func answeredInstead() throws {
        let server = try LoginServer()
        for (order, number) in [("open a file", 13), ("connect elsewhere", 0)] {
            guard case .problem(let told) = try make(order, over: server) else {
                Issue.record("no answer: \(order)")
                continue
            }
            #expect(told.status == number && told.type.text == order)
        }
    }
}
