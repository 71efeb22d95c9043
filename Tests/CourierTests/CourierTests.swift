import Courier
import Cryptography
import Dispatch
import POSIX
import TestSupport
import Testing

/// The courier against a server of our own that does wrong on demand.
@Suite struct CourierTests {
    @Test("a ticket is redeemed and a secret presented over TLS, the certificate checked")
    func overTLS() throws {
        let server = try LoginServer(certificate: "good")
        let asking = try Asking(
            "https://localhost:\(server.port)", authorities: TestCertificates.authority())
        let (credential, handed) = try #require(enrolled(try asking.redeem()))
        #expect(credential.text.hasPrefix("cr_") && handed.generation == 0)
        let answer = try asking.signIn(credential, handed.secret, nonce: 1)
        guard case .accepted(let acceptance) = answer else {
            Issue.record("not accepted")
            return
        }
        #expect(acceptance.next.generation == 1 && !(acceptance.next.secret == handed.secret))
        #expect(acceptance.verification.text.hasPrefix("vf_"))
        #expect(acceptance.expiresAt.text == "2026-11-21T21:00:00Z")
        let requests = try server.requests()
        #expect(requests.map(\.path) == ["/v1/device/enrolments", "/v1/device/logins"])
        #expect(requests.map { $0.headers["Idempotency-Key"] } == ["the-same-key", "another-key"])
        #expect(requests.allSatisfy { $0.headers["Content-Type"] == "application/json" })
        #expect(requests.allSatisfy { $0.headers["Cookie"] == nil && $0.headers["Expect"] == nil })
        // Sixteen bytes of 1, in Base64 for addresses, without padding.
        #expect(requests[1].body["rotation_nonce"] == "AQEBAQEBAQEBAQEBAQEBAQ")
    }

    @Test("a server's address may be a number, and its paths may begin with something")
    func addresses() throws {
        let server = try LoginServer(certificate: "good")
        let authority = try TestCertificates.authority()
        _ = try Asking("https://127.0.0.1:\(server.port)/auth/", authorities: authority).redeem()
        #expect(try server.requests().map(\.path) == ["/auth/v1/device/enrolments"])
        let plain = try LoginServer()
        _ = try Asking("http://localhost:\(plain.port)").redeem(deviceName: "attic")
        #expect(try plain.requests().map { $0.body["name"] } == ["attic"])
    }

    static let badCertificates: [(String, CourierFailure.CertificateFault)] = [
        ("expired", .expired), ("early", .notYetValid), ("other-host", .otherHost),
        ("self-made", .unknownAuthority),
    ]

    @Test(
        "a certificate that is not good is refused, and nothing is said", arguments: badCertificates
    )
    func badCertificate(name: String, fault: CourierFailure.CertificateFault) throws {
        let server = try LoginServer(certificate: name)
        let asking = try Asking(
            "https://localhost:\(server.port)", authorities: TestCertificates.authority())
        #expect(throws: CourierFailure.certificate(fault)) { try asking.redeem() }
        #expect(try server.requests().isEmpty)
    }

    @Test("without a private authority the system's count, and with one only that one")
    func authorities() throws {
        let server = try LoginServer(certificate: "good")
        let address = "https://localhost:\(server.port)"
        let unknown = CourierFailure.certificate(.unknownAuthority)
        #expect(throws: unknown) { try Asking(address).redeem() }
        let stranger = try TestCertificates.shared.get().bytes(of: "stranger.pem")
        #expect(throws: unknown) { try Asking(address, authorities: stranger).redeem() }
        let garbage = Array("no certificate".utf8)
        #expect(throws: CourierFailure.authorities) {
            try Asking(address, authorities: garbage).redeem()
        }
        #expect(try server.requests().isEmpty)
    }

    @Test("TLS older than 1.2, and no TLS at all, are refused")
    func oldTLS() throws {
        let authority = try TestCertificates.authority()
        let old = try LoginServer(certificate: "good", options: ["--highest", "TLSv1_1"])
        #expect(throws: CourierFailure.handshake) {
            try Asking("https://localhost:\(old.port)", authorities: authority).redeem()
        }
        let newer = try LoginServer(certificate: "good", options: ["--highest", "TLSv1_2"])
        _ = try Asking("https://localhost:\(newer.port)", authorities: authority).redeem()
        let plain = try LoginServer()
        #expect(throws: CourierFailure.self) {
            try Asking("https://localhost:\(plain.port)", authorities: authority).redeem()
        }
        #expect(try plain.requests().isEmpty && old.requests().isEmpty)
    }

    static let faults: [(String, CourierFailure)] = [
        ("drop", .connectionLost), ("lose", .connectionLost), ("cut=0", .connectionLost),
        ("cut=20", .connectionLost), ("nothttp", .badAnswer), ("garbage=", .badAnswer),
        ("garbage={", .badAnswer), ("garbage=[]", .badAnswer),
        ("garbage={\"credential\":\"cr_a\",\"secret\":\"wws_b\"}", .badAnswer),
        ("garbage={\"credential\":\"cr_a\",\"secret\":\"wws b\",\"generation\":0}", .badAnswer),
        ("garbage={\"credential\":\"cr_a\",\"secret\":\"wws_b\",\"generation\":-1}", .badAnswer),
        (
            "garbage={\"credential\":\"cr_a\",\"secret\":\"b\",\"secret\":\"c\",\"generation\":0}",
            .badAnswer
        ),
        ("type=text/html", .badAnswer), ("huge=70000", .tooLarge), ("headers=40", .tooLarge),
    ]

    @Test("what is no whole, sound answer is none", arguments: faults)
    func fault(word: String, failure: CourierFailure) throws {
        let server = try LoginServer([word])
        let asking = try Asking("http://127.0.0.1:\(server.port)")
        #expect(throws: failure) { try asking.redeem() }
        // The next try of the same errand works.
        #expect(enrolled(try asking.redeem()) != nil)
    }

    @Test("R-06 a reply that is cut at any byte is lost, and the same errand gets the whole one")
    func cutReplies() throws {
        let server = try LoginServer()
        let road = try FaultyRoad(to: try #require(UInt16(exactly: server.port)))
        let asking = try Asking("http://127.0.0.1:\(road.port)")
        let (credential, handed) = try #require(enrolled(try asking.redeem()))
        func signIn() throws -> CourierAnswer {
            try asking.signIn(credential, handed.secret, nonce: 1)
        }
        var whole = FaultyRoad.Fault()
        let isOver = DispatchSemaphore(value: 0)
        whole.atEnd = { isOver.signal() }
        road.expect([whole])
        guard case .accepted = try signIn() else {
            Issue.record("not accepted")
            return
        }
        // The client has its answer before the connection is over, and counted.
        isOver.wait()
        let length = road.lastLengths.reply
        #expect(length > 300)
        for place in 0..<length {
            var cut = FaultyRoad.Fault()
            cut.replyLimit = place
            road.expect([cut])
            let failure = #expect(throws: CourierFailure.self, "byte \(place)") { try signIn() }
            // Half a head is no HTTP.
            #expect([.connectionLost, .badAnswer].contains(failure), "byte \(place)")
        }
        road.expect([])
        guard case .accepted(let again) = try signIn() else {
            Issue.record("not accepted again")
            return
        }
        #expect(again.next.generation == 1)
    }

    @Test("members that nobody knows, a long body and a cookie do no harm")
    func tolerated() throws {
        let server = try LoginServer(["cookie", "huge=60000", "headers=20"])
        let asking = try Asking("http://127.0.0.1:\(server.port)")
        for _ in 0..<3 { #expect(enrolled(try asking.redeem()) != nil) }
        #expect(try server.requests().allSatisfy { $0.headers["Cookie"] == nil })
    }

    @Test("a redirection is not followed", arguments: ["http", "https"])
    func redirected(scheme: String) throws {
        let target = try LoginServer()
        let server = try LoginServer(["redirect=\(scheme)://127.0.0.1:\(target.port)/v1"])
        let answer = try Asking("http://127.0.0.1:\(server.port)").redeem()
        #expect(problem(answer)?.status == 302)
        #expect(try target.requests().isEmpty)
    }

    @Test(
        "problems are told with their type and how long to wait",
        arguments: [400, 401, 422, 429, 503])
    func problems(status: Int) throws {
        let server = try LoginServer(["status=\(status)"])
        let told = try #require(problem(try Asking("http://127.0.0.1:\(server.port)").redeem()))
        #expect(told.status == status && told.type.text == "urn:watchword:problem:test")
        #expect(told.retryAfter == 7)
        #expect(told.isPassing == (status == 429 || status == 503))
    }

    @Test("a server that does not answer is given up")
    func silence() throws {
        let server = try LoginServer(["slow"])
        // The courier's own limit is 20 seconds; here its parent's is tried, with less to wait.
        let asking = try Asking("http://127.0.0.1:\(server.port)", timeout: .milliseconds(1500))
        #expect(throws: CourierFailure.timedOut) { try asking.redeem() }
    }

    @Test("a host that is not there, and a port where nobody listens, are told apart")
    func nowhere() throws {
        #expect(throws: CourierFailure.unknownHost) {
            try Asking("https://watchword.invalid").redeem()
        }
        let port = try LoginServer().port
        let refused = SystemCallFailure(call: "connect", number: 111)
        #expect(throws: CourierFailure.unreachable(refused)) {
            try Asking("https://127.0.0.1:\(port)").redeem()
        }
    }

    @Test("a courier that is not there, or says nothing, is told")
    func noCourier() throws {
        let errand = Errand(
            server: try ServerAddress(parsing: "https://localhost"), authorities: [],
            idempotencyKey: "k", question: .enrolment(ticket: Asking.ticket, deviceName: ""))
        #expect(throws: CourierFailure.notFound) {
            try Courier(path: "/nowhere/watchword-courier").carry(errand)
        }
        #expect(throws: CourierFailure.died(.exited(1))) {
            try Courier(path: "/bin/false").carry(errand)
        }
    }

    private func enrolled(_ answer: CourierAnswer) -> (Token, CourierAnswer.HandedSecret)? {
        if case .enrolled(let credential, let handed) = answer { (credential, handed) } else { nil }
    }

    private func problem(_ answer: CourierAnswer) -> CourierAnswer.Problem? {
        if case .problem(let problem) = answer { problem } else { nil }
    }
}
