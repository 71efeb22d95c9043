import Courier
import Dispatch
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

/// The helper against a test server that misbehaves on demand.
@Suite struct CourierTests {
    @Test("a ticket is redeemed and a secret presented over TLS with a checked certificate")
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
        // Sixteen bytes of 1, in Base64url without padding.
        #expect(requests[1].body["rotation_nonce"] == "AQEBAQEBAQEBAQEBAQEBAQ")
    }

    @Test("a server's address may be an IP address and have a path prefix")
    func addresses() throws {
        let server = try LoginServer(certificate: "good")
        let authority = try TestCertificates.authority()
        _ = try Asking("https://127.0.0.1:\(server.port)/auth/", authorities: authority).redeem()
        #expect(try server.requests().map(\.path) == ["/auth/v1/device/enrolments"])
        let plain = try LoginServer()
        _ = try Asking("http://localhost:\(plain.port)").redeem(deviceName: "attic")
        #expect(try plain.requests().map { $0.body["name"] } == ["attic"])
    }

    @Test("an enrolment reports the custody of a bound secret, but not that of an unbound secret")
    func custody() throws {
        let server = try LoginServer()
        let asking = try Asking("http://localhost:\(server.port)")
        _ = try asking.redeem()
        for custody in SecretCustody.allCases { _ = try asking.redeem(custody: custody) }
        #expect(
            try server.requests().map { $0.body["custody"] } == [nil, "tpm", "agent", "file"])
    }

    static let badCertificates: [(String, HTTPHelperFailure.CertificateFault)] = [
        ("expired", .expired), ("early", .notYetValid), ("other-host", .otherHost),
        ("self-made", .unknownAuthority),
    ]

    @Test(
        "an invalid certificate is refused, and no request is sent", arguments: badCertificates
    )
    func badCertificate(name: String, fault: HTTPHelperFailure.CertificateFault) throws {
        let server = try LoginServer(certificate: name)
        let asking = try Asking(
            "https://localhost:\(server.port)", authorities: TestCertificates.authority())
        #expect(throws: HTTPHelperFailure.certificate(fault)) { try asking.redeem() }
        #expect(try server.requests().isEmpty)
    }

    @Test(
        "a certificate from an unknown authority is refused, as is an invalid list of authorities")
    func authorities() throws {
        let server = try LoginServer(certificate: "good")
        let address = "https://localhost:\(server.port)"
        let unknown = HTTPHelperFailure.certificate(.unknownAuthority)
        #expect(throws: unknown) { try Asking(address).redeem() }
        let stranger = try TestCertificates.shared.get().bytes(of: "stranger.pem")
        #expect(throws: unknown) { try Asking(address, authorities: stranger).redeem() }
        let garbage = Array("no certificate".utf8)
        #expect(throws: HTTPHelperFailure.authorities) {
            try Asking(address, authorities: garbage).redeem()
        }
        #expect(try server.requests().isEmpty)
    }

    @Test("TLS older than 1.2 is refused, as is plain HTTP in place of TLS")
    func oldTLS() throws {
        let authority = try TestCertificates.authority()
        let old = try LoginServer(certificate: "good", options: ["--highest", "TLSv1_1"])
        #expect(throws: HTTPHelperFailure.handshake) {
            try Asking("https://localhost:\(old.port)", authorities: authority).redeem()
        }
        let newer = try LoginServer(certificate: "good", options: ["--highest", "TLSv1_2"])
        _ = try Asking("https://localhost:\(newer.port)", authorities: authority).redeem()
        let plain = try LoginServer()
        #expect(throws: HTTPHelperFailure.self) {
            try Asking("https://localhost:\(plain.port)", authorities: authority).redeem()
        }
        #expect(try plain.requests().isEmpty && old.requests().isEmpty)
    }

    static let faults: [(String, HTTPHelperFailure)] = [
        ("drop", .connectionLost), ("lose", .connectionLost), ("cut=0", .connectionLost),
        ("cut=20", .connectionLost), ("nothttp", .badResponse), ("garbage=", .badResponse),
        ("garbage={", .badResponse), ("garbage=[]", .badResponse),
        ("garbage={\"credential\":\"cr_a\",\"secret\":\"wws_b\"}", .badResponse),
        ("garbage={\"credential\":\"cr_a\",\"secret\":\"wws b\",\"generation\":0}", .badResponse),
        ("garbage={\"credential\":\"cr_a\",\"secret\":\"wws_b\",\"generation\":-1}", .badResponse),
        (
            "garbage={\"credential\":\"cr_a\",\"secret\":\"b\",\"secret\":\"c\",\"generation\":0}",
            .badResponse
        ),
        ("type=text/html", .badResponse), ("huge=70000", .tooLarge), ("headers=40", .tooLarge),
    ]

    @Test("an incomplete or malformed response is rejected", arguments: faults)
    func fault(word: String, failure: HTTPHelperFailure) throws {
        let server = try LoginServer([word])
        let asking = try Asking("http://127.0.0.1:\(server.port)")
        #expect(throws: failure) { try asking.redeem() }
        // The next attempt at the same request succeeds.
        #expect(enrolled(try asking.redeem()) != nil)
    }

    @Test("R-06 a response cut off at any byte is an error, and a retry gets the whole response")
    func cutReplies() throws {
        let server = try LoginServer()
        let proxy = try FaultInjectingProxy(to: try #require(UInt16(exactly: server.port)))
        let asking = try Asking("http://127.0.0.1:\(proxy.port)")
        let (credential, handed) = try #require(enrolled(try asking.redeem()))
        func signIn() throws -> HelperResponse {
            try asking.signIn(credential, handed.secret, nonce: 1)
        }
        var whole = FaultInjectingProxy.Fault()
        let isOver = DispatchSemaphore(value: 0)
        whole.atEnd = { isOver.signal() }
        proxy.expect([whole])
        guard case .accepted = try signIn() else {
            Issue.record("not accepted")
            return
        }
        // The client gets its response before the connection is closed and its bytes are counted.
        isOver.wait()
        let length = proxy.lastLengths.reply
        #expect(length > 300)
        for place in 0..<length {
            var cut = FaultInjectingProxy.Fault()
            cut.replyLimit = place
            proxy.expect([cut])
            let failure = #expect(throws: HTTPHelperFailure.self, "byte \(place)") { try signIn() }
            // Half a header is not HTTP.
            #expect([.connectionLost, .badResponse].contains(failure), "byte \(place)")
        }
        proxy.expect([])
        guard case .accepted(let again) = try signIn() else {
            Issue.record("not accepted again")
            return
        }
        #expect(again.next.generation == 1)
    }

    @Test("only a challenge of a device key, with 32 bytes, is accepted")
    func challenges() throws {
        let word = String(repeating: "A", count: 43)
        let answers = [
            ("wwx_\(word)", "1800000000000", true), ("wwc_\(word)", "1800000000000", false),
            ("wws_\(word)", "1800000000000", false), ("WWX_\(word)", "1800000000000", false),
            ("xwwx_\(word)", "1800000000000", false), (word, "1800000000000", false),
            ("wwx_\(word.dropLast())", "1800000000000", false),
            ("wwx_\(word)A", "1800000000000", false), ("wwx_\(word)", "-1", false),
            ("wwx_\(word)", "null", false),
        ]
        let server = try LoginServer(
            answers.map { #"garbage={"challenge":"\#($0.0)","expires_ms":\#($0.1)}"# })
        let asking = try Asking("http://127.0.0.1:\(server.port)")
        let credential = try #require(Token("cr_1"))
        func challenge() throws -> HelperResponse {
            try asking.helper.send(
                HelperRequest(
                    server: TrustedServer(asking.server.address), idempotencyKey: "a-key",
                    operation: .challenge(credential: credential)))
        }
        for (token, expiry, isAccepted) in answers {
            guard isAccepted else {
                #expect(throws: HTTPHelperFailure.badResponse, "\(token) \(expiry)") {
                    try challenge()
                }
                continue
            }
            guard case .challenge(let challenge) = try challenge() else {
                Issue.record("no challenge: \(token)")
                continue
            }
            #expect(challenge.token.text == token && challenge.bytes?.count == 32)
        }
    }

    @Test("a response with unknown members, a long body or a cookie is accepted")
    func tolerated() throws {
        let server = try LoginServer(["cookie", "huge=60000", "headers=20"])
        let asking = try Asking("http://127.0.0.1:\(server.port)")
        for _ in 0..<3 { #expect(enrolled(try asking.redeem()) != nil) }
        #expect(try server.requests().allSatisfy { $0.headers["Cookie"] == nil })
    }

    @Test("a redirect is not followed", arguments: ["http", "https"])
    func redirected(scheme: String) throws {
        let target = try LoginServer()
        let server = try LoginServer(["redirect=\(scheme)://127.0.0.1:\(target.port)/v1"])
        let answer = try Asking("http://127.0.0.1:\(server.port)").redeem()
        #expect(problem(answer)?.status == 302)
        #expect(try target.requests().isEmpty)
    }

    @Test(
        "a problem response is reported with its type, waiting time and field",
        arguments: [400, 401, 422, 429, 503])
    func problems(status: Int) throws {
        let server = try LoginServer(["status=\(status)"])
        let told = try #require(problem(try Asking("http://127.0.0.1:\(server.port)").redeem()))
        #expect(told.status == status && told.type.text == "urn:watchword:problem:test")
        #expect(told.retryAfter == 7 && told.field?.text == "name")
        #expect(told.isTransient == (status == 429 || status == 503))
    }

    @Test("an application gets the content of a response as the helper rewrote it")
    func application() throws {
        let server = try LoginServer([
            #"garbage={ "a" : [1, "\u0007é"] }"#, "garbage=", "garbage={", "type=text/html",
            "status=403", "huge=70000", "huge=\(ApplicationRequest.largestContent)",
        ])
        let asking = try Asking("http://127.0.0.1:\(server.port)")
        func content() throws -> String? {
            let request = ApplicationRequest(
                .post, "/a/../v1/device/enrolments", body: SecretBytes(text: #"{"ticket":"t"}"#))
            let answer = try asking.helper.send(
                HelperRequest(
                    server: asking.server, idempotencyKey: "a-key",
                    apiKey: SecretBytes(text: "wwk_key"), operation: .application(request)))
            if case .content(let content) = answer { return content?.text ?? "" }
            return problem(answer).map { "\($0.status)" }
        }
        #expect(try content() == #"{"a":[1,"\u0007é"]}"#)
        #expect(try content() == "")
        for _ in 0..<2 { #expect(throws: HTTPHelperFailure.badResponse) { try content() } }
        #expect(try content() == "403")
        #expect(try content()?.hasPrefix(#"{"credential":"cr_"#) == true)
        #expect(throws: HTTPHelperFailure.tooLarge) { try content() }
        let requests = try server.requests()
        #expect(requests.allSatisfy { $0.path == "/a/../v1/device/enrolments" })
        #expect(requests.allSatisfy { $0.headers["Authorization"] == "Bearer wwk_key" })
    }

    @Test("a server that does not respond times out")
    func silence() throws {
        let server = try LoginServer(["slow"])
        // The helper's own limit is 20 seconds; this test uses the shorter timeout of its parent.
        let asking = try Asking("http://127.0.0.1:\(server.port)", timeout: .milliseconds(1500))
        #expect(throws: HTTPHelperFailure.timedOut) { try asking.redeem() }
    }

    @Test("an unknown host and a closed port cause different errors")
    func nowhere() throws {
        #expect(throws: HTTPHelperFailure.unknownHost) {
            try Asking("https://watchword.invalid").redeem()
        }
        let port = try LoginServer().port
        let refused = SystemCallFailure(call: "connect", number: 111)
        #expect(throws: HTTPHelperFailure.unreachable(refused)) {
            try Asking("https://127.0.0.1:\(port)").redeem()
        }
    }

    @Test(
        "a process that reads the request neither looks up the server's name nor connects",
        .enabled(if: ForeignProgram.canTrace))
    func separation() throws {
        let folder = try TemporaryFolder()
        let strace = try #require(ForeignProgram("strace"))
        let courier = try folder.addProgram(
            "#!/bin/sh\nexec \(strace.path) -f -o '\(folder.file("trace"))' -e trace=read,socket "
                + "'\(BuiltProgram.path("watchword-courier"))'\n", as: "courier")
        let server = try LoginServer()
        let request = HelperRequest(
            server: TrustedServer(try #require(ServerAddress("http://localhost:\(server.port)"))),
            idempotencyKey: "k",
            operation: .enrolment(ticket: Asking.ticket, deviceName: ""))
        _ = try HTTPHelper(path: courier, timeout: .seconds(60)).send(request)
        let trace = String(decoding: try folder.bytes(of: "trace"), as: UTF8.self)
        func processes(calling call: String) -> Set<Substring> {
            let lines = trace.split(separator: "\n").filter { $0.contains(call) }
            return Set(lines.map { $0.prefix { $0 != " " } })
        }
        let reading = processes(calling: "read(0,")
        let connecting = processes(calling: "socket(AF_")
        #expect(reading.count == 1 && connecting.count == 1)
        #expect(reading.isDisjoint(with: connecting))
    }

    @Test("a helper that is missing, or ends without a response, is reported")
    func noCourier() throws {
        let request = HelperRequest(
            server: TrustedServer(try #require(ServerAddress("https://localhost"))),
            idempotencyKey: "k", operation: .enrolment(ticket: Asking.ticket, deviceName: ""))
        #expect(throws: HTTPHelperFailure.helper(.notFound)) {
            try HTTPHelper(path: "/nowhere/watchword-courier").send(request)
        }
        #expect(throws: HTTPHelperFailure.helper(.died(.exited(1)))) {
            try HTTPHelper(path: "/bin/false").send(request)
        }
    }

    private func enrolled(_ answer: HelperResponse) -> (Token, HelperResponse.NextSecret)? {
        if case .enrolled(let credential, let handed) = answer { (credential, handed) } else { nil }
    }

    private func problem(_ answer: HelperResponse) -> HelperResponse.Problem? {
        if case .problem(let problem) = answer { problem } else { nil }
    }
}
