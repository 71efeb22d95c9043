import Courier
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

/// A compromised helper can only exchange data with its server, and misreport that data.
@Suite struct ConfinedCourierTests {
    private func make(_ order: String, over server: LoginServer) throws -> HelperResponse {
        let helper = try HTTPHelper(path: BuiltProgram.path("FaultyCourier"), timeout: .seconds(60))
        return try helper.send(
            HelperRequest(
                server: TrustedServer(
                    try #require(ServerAddress("http://127.0.0.1:\(server.port)"))),
                idempotencyKey: "k",
                operation: .enrolment(ticket: SecretBytes(text: "wwt_a"), deviceName: order)))
    }

    static let endings: [(String, ChildProcess.Ending)] = [
        ("trap", .crashed(signal: 4)), ("abort", .crashed(signal: 6)), ("exit", .exited(0)),
        ("open a socket", .forbiddenCall), ("fork", .forbiddenCall),
        ("run a program", .forbiddenCall), ("signal the parent", .forbiddenCall),
        ("duplicate a descriptor", .forbiddenCall), ("use another descriptor", .forbiddenCall),
        ("filter the socket", .forbiddenCall), ("map executable memory", .forbiddenCall),
    ]

    @Test("a helper killed for a forbidden system call is reported", arguments: endings)
    func forbidden(order: String, ending: ChildProcess.Ending) throws {
        let server = try LoginServer()
        #expect(throws: HTTPHelperFailure.helper(.died(ending))) { try make(order, over: server) }
    }

    @Test(
        "a response that breaks the protocol is rejected",
        arguments: ["send an invalid response", "send an endless response"])
    func rules(order: String) throws {
        let server = try LoginServer()
        #expect(throws: HTTPHelperFailure.badResponse) { try make(order, over: server) }
    }

    @Test("a helper cannot open a file or connect to another server")
    func answeredInstead() throws {
        let server = try LoginServer()
        for (order, number) in [("open a file", 13), ("connect elsewhere", 0)] {
            guard case .problem(let told) = try make(order, over: server) else {
                Issue.record("no response: \(order)")
                continue
            }
            #expect(told.status == number && told.type.text == order)
        }
    }
}
