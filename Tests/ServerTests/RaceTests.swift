import PostgreSQLServer
import ServiceTranscripts
import TestSupport
import Testing
import Verification

/// Concurrent HTTP requests: wrong codes are counted, and other values are accepted once.
struct RaceTests {
    enum Deployment: String, CaseIterable, CustomTestStringConvertible {
        case twoOnOneFile = "two servers on one SQLite file"
        case twoOnPostgreSQL = "two servers on one PostgreSQL database"
        case fourOnPostgreSQL = "four servers on one PostgreSQL database"

        var testDescription: String { rawValue }

        /// The deployments that can be tested on this machine.
        static var possible: [Deployment] {
            PostgreSQLServer.isInstalled ? allCases : [.twoOnOneFile]
        }

        func start(
            arguments: [String] = []
        ) async throws -> (ServerProcess.State, [ServerProcess]) {
            let isFile = self == .twoOnOneFile
            let url = try await onOwnThread {
                isFile ? nil : try PostgreSQLServer.shared().makeDatabase()
            }
            let state = try ServerProcess.State(store: url)
            // All servers start at once without a database; the first one creates the schema and
            // the keys.
            let servers = try await withThrowingTaskGroup(of: ServerProcess.self) { group in
                for _ in 0..<(self == .fourOnPostgreSQL ? 4 : 2) {
                    group.addTask { try await ServerProcess(state, arguments: arguments) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            return (state, servers)
        }
    }

    @Test(
        "T-10 a code that a hundred connections send to several servers is accepted once",
        arguments: Deployment.possible)
    func oneCode(deployment: Deployment) async throws {
        let (state, servers) = try await deployment.start()
        let key = try await state.makeKey()
        let alice = try await EnrolledSubject(
            "alice", Asker(servers[0].port, key: key), period: 120)
        let code = alice.code()
        let results = try await withThrowingTaskGroup(of: String?.self) { group in
            for index in 0..<100 {
                let port = servers[index % servers.count].port
                group.addTask {
                    try await decision(
                        "/v1/verifications", #"{"subject":"alice","code":"\#(code)"}"#,
                        number: index, port: port, key: key
                    ).result
                }
            }
            return try await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(results.count == 100)
        #expect(results.count { $0 == "accepted" } == 1)
        #expect(results.count { $0 == "denied" } == 99)
        for server in servers { try await server.stop() }
    }

    @Test(
        "H-12 of five hundred wrong codes that a hundred clients send to several servers, only those before the first wait are checked",
        arguments: Deployment.possible)
    func wrongCodes(deployment: Deployment) async throws {
        let (state, servers) = try await deployment.start()
        let key = try await state.makeKey()
        let alice = try await EnrolledSubject("alice", Asker(servers[0].port, key: key))
        let wrong = alice.wrongCodes(500)
        let start = ContinuousClock.now
        let reasons = try await withThrowingTaskGroup(of: [String?].self) { group in
            for index in 0..<100 {
                let port = servers[index % servers.count].port
                group.addTask {
                    var reasons: [String?] = []
                    for number in (5 * index)..<(5 * index + 5) {
                        let reply = try await decision(
                            "/v1/verifications",
                            #"{"subject":"alice","code":"\#(wrong[number])"}"#,
                            number: number, port: port, key: key)
                        reasons.append(reply.reason)
                    }
                    return reasons
                }
            }
            return try await group.reduce(into: [String?]()) { $0 += $1 }
        }
        #expect(reasons.count == 500)
        let checked = reasons.count { $0 == "wrong" }
        // On a very slow machine, the first waits, each of which is twice as long as the one
        // before, may end during the test; then one more code is checked.
        let spent = ContinuousClock.now - start
        let waits = [1, 3, 7].count { spent >= Duration.milliseconds($0 * Policy.firstWait) }
        let failures = Policy.standard.firstFailureWithWait
        #expect((failures...failures + waits).contains(checked), "\(checked)")
        #expect(reasons.count { $0 == "throttled" } == 500 - checked)
        // H-13: even the correct code must wait.
        let right = try await decision(
            "/v1/verifications", #"{"subject":"alice","code":"\#(alice.code())"}"#,
            number: 500, port: servers[1].port, key: key)
        let isInTime = ContinuousClock.now - start < .milliseconds(Policy.firstWait)
        #expect(right.reason == "throttled" || !isInTime)
        for server in servers { try await server.stop() }
    }

    @Test(
        "N-18 enrolment tickets, secrets and login tickets are accepted at most once in a race",
        arguments: Deployment.possible)
    func once(deployment: Deployment) async throws {
        let (state, servers) = try await deployment.start()
        let ports = servers.map(\.port)
        let key = try await state.makeKey()
        var found: String?
        for subject in ["carol", "dave", "erin", "frank", "grace"] where found == nil {
            found = try await oneLogin(of: subject, ports, key)
        }
        let login = try #require(found, "the servers do not recover")
        let redeemed = try await race(ports, 20, key: key) { _ in
            ("/v1/logins/redeem", #"{"login":"\#(login)"}"#)
        }
        #expect(redeemed.count { $0.texts["result"] == "accepted" } <= 1)
        for server in servers { try await server.stop() }
    }

    /// Presents an enrolment ticket, and then the secret, in a race, and returns the login ticket.
    ///
    /// Returns `nil` after a 503, which a busy machine may cause: nothing is then known about the
    /// outcome, and a repeated request could change it.
    private func oneLogin(
        of subject: String, _ ports: [UInt16], _ key: String
    ) async throws -> String? {
        let enrolment = try await Asker(ports[0], key: key).ask(
            "POST", "/v1/subjects/\(subject)/credentials", #"{"type":"secret"}"#)
        let ticket = try #require(enrolment?.texts["ticket"])
        let answers = try await race(ports, 20) { _ in
            ("/v1/device/enrolments", #"{"ticket":"\#(ticket)"}"#)
        }
        let made = answers.filter { $0.status == 201 }
        #expect(made.count <= 1)
        if answers.contains(where: { $0.status == 503 }) { return nil }
        let device = try #require(made.first?.texts)
        let credential = try #require(device["credential"])
        let secret = try #require(device["secret"])
        // R-07: each request has its own nonce.
        let logins = try await race(ports, 20) { index in
            let nonce = (index < 10 ? "0" : "1") + String(repeating: "A", count: 20) + "A"
            let own = String("ABCDEFGHIJKLMNOPQRST".dropFirst(index).prefix(1)) + nonce.dropFirst()
            return (
                "/v1/device/logins",
                #"{"credential":"\#(credential)","secret":"\#(secret)","rotation_nonce":"\#(own)"}"#
            )
        }
        #expect(logins.count { $0.texts["result"] == "accepted" } <= 1)
        if logins.contains(where: { $0.status == 503 }) { return nil }
        #expect(logins.allSatisfy { $0.status == 200 })
        #expect(logins.contains { $0.texts["wipe_reason"] == "reuse-detected" })
        return logins.compactMap { $0.texts["login"] }.first
    }

    private func race(
        _ ports: [UInt16], _ count: Int, key: String? = nil,
        _ question: @escaping @Sendable (Int) -> (String, String)
    ) async throws -> [RawConnection.Answer] {
        try await withThrowingTaskGroup(of: RawConnection.Answer?.self) { group in
            for index in 0..<count {
                group.addTask {
                    let (target, body) = question(index)
                    return try await Asker(ports[index % ports.count], key: key)
                        .ask("POST", target, body)
                }
            }
            return try await group.reduce(into: []) { if let answer = $1 { $0.append(answer) } }
        }
    }

    @Test(
        "K-15 of a hundred concurrent responses to a challenge, on several servers, one is accepted",
        arguments: Deployment.possible)
    func oneChallenge(deployment: Deployment) async throws {
        let (state, servers) = try await deployment.start(
            arguments: ["--rp-id", "mill.example", "--pages"])
        let key = try await state.makeKey()
        let driver = PasskeyDriver(port: servers[0].port, key: key)
        let passkey = try TestPasskey()
        try await driver.register(passkey)
        let ceremony = try await driver.beginCeremony()
        let replies = try await withThrowingTaskGroup(of: PasskeyDriver.Reply.self) { group in
            for index in 0..<100 {
                let port = servers[index % servers.count].port
                group.addTask {
                    let driver = PasskeyDriver { _, target, body in
                        try await decision(target, body, number: index, port: port, key: key)
                    }
                    return try await driver.finish(ceremony, passkey)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(replies.count { $0.result == "accepted" } == 1)
        #expect(replies.count { $0.reason == "challenge" } == 99)
        for server in servers { try await server.stop() }
    }
}

/// Sends a request until the server decides.
///
/// After a 503, which a busy machine may cause, nothing is known about the outcome. The repeated
/// request has the same `Idempotency-Key`, so the server returns the decision that it may have
/// made.
private func decision(
    _ target: String, _ body: String, number: Int, port: UInt16, key: String
) async throws -> PasskeyDriver.Reply {
    // Not a performance requirement: this only ends a test that would otherwise hang.
    let end = ContinuousClock.now + .seconds(60)
    while true {
        let reply = try await PasskeyDriver.Reply.asking(
            "POST", target, body, port: port, key: key,
            headers: "Idempotency-Key: request-\(number)\r\n")
        guard reply.status == 503 else { return reply }
        try #require(ContinuousClock.now < end, "the server does not recover")
        try await Task.sleep(for: .milliseconds(20))
    }
}
