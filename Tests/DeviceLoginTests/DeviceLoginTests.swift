import Courier
import SecretVault
import TestSupport
import Testing
import WatchwordCryptography

@testable import DeviceLogin

@Suite struct DeviceLoginTests {
    @Test("each login presents the secret that the previous login returned")
    func rotation() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        for number in 1...4 { #expect(try device.signIn(&server) == "wwl_\(number)") }
        #expect(
            server.arrived.map { $0.secret.text.prefix(5) } == ["wws_0", "wws_1", "wws_2", "wws_3"])
        #expect(Set(server.arrived.map(\.nonce)).count == 4)
        let state = try device.state()
        #expect(state.generation == 3 && state.successor != nil && !state.isUnanswered)
    }

    @Test("R-06 after a lost response, the request is repeated with the same nonce and succeeds")
    func lostReply() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        _ = try device.signIn(&server)
        // Two responses are lost; after the second loss, the run gives up.
        server.faults = [.answerLost, .answerLost]
        #expect(throws: Device.lostConnection) { try device.signIn(&server) }
        #expect(try device.state().isUnanswered)
        let ticket = try device.signIn(&server)
        #expect(ticket == "wwl_3")
        let nonces = server.arrived.map(\.nonce)
        // The server repeated the lost response from its records. After that, the device presented
        // the successor.
        #expect(nonces.count == 3 && Set(nonces).count == 3)
        #expect(server.row.wiped == nil)
        #expect(try device.state().isUnanswered == false)
    }

    @Test(
        "the nonce is stored before it is sent, and two secrets are kept until a response arrives")
    func writtenFirst() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        _ = try device.signIn(&server)
        let before = try device.state()
        var seen: EnrolledSecret?
        server.meanwhile = { seen = try? device.state() }
        _ = try device.signIn(&server)
        let during = try #require(seen)
        #expect(during.isUnanswered && during.successor != nil)
        #expect(during.current.secret == before.current.secret)
        let sent = try #require(server.arrived.last)
        #expect(during.successor?.nonce == sent.nonce)
        #expect(during.successor.map { $0.secret == sent.secret } == true)
    }

    @Test("R-07 if a stolen copy is used, the server orders both holders to wipe; the device obeys")
    func thief() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        _ = try device.signIn(&server)
        let stolen = try device.state()
        _ = try device.signIn(&server)
        // The thief presents a retired secret.
        let login = HelperRequest.Login(
            credential: stolen.credential, secret: stolen.current.secret,
            nonce: RotationNonce.random())
        let answer = try server.send(
            HelperRequest(
                server: stolen.server, idempotencyKey: "thief",
                operation: .login(login)))
        guard case .denied(wipe: .reuseDetected) = answer else {
            Issue.record("the server did not detect the thief")
            return
        }
        #expect(throws: DeviceLoginError.wiped(.reuseDetected)) { try device.signIn(&server) }
        #expect(try device.tombstone() == .reuseDetected)
        #expect(!(try device.keepsPrevious()))
        #expect(throws: VaultError.wiped) { try device.signIn(&server) }
    }

    @Test(
        "a wipe order with any of the four known reasons is obeyed and leaves its own tombstone",
        arguments: [
            (HelperResponse.WipeOrder.revoked, Tombstone.Reason.revoked),
            (.reuseDetected, .reuseDetected), (.tooManyFailures, .tooManyFailures),
            (.accountClosed, .accountClosed),
        ])
    func obeyed(order: HelperResponse.WipeOrder, reason: Tombstone.Reason) throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        server.scripted = [.success(.denied(wipe: order))]
        #expect(throws: DeviceLoginError.wiped(reason)) { try device.signIn(&server) }
        #expect(try device.tombstone() == reason)
    }

    static let harmless: [(Result<HelperResponse, HTTPHelperFailure>, DeviceLoginError)] =
        [
            (.success(.denied(wipe: nil)), .denied),
            (.success(.denied(wipe: .unlisted)), .wipeNotObeyed),
            (.failure(.timedOut), .helper(.timedOut, at: Device.server)),
            (.failure(.badResponse), .helper(.badResponse, at: Device.server)),
            (
                .failure(.certificate(.otherHost)),
                .helper(.certificate(.otherHost), at: Device.server)
            ),
        ]
        + [400, 401, 403, 404, 409, 410, 422, 429, 500, 503].compactMap {
            status -> (Result<HelperResponse, HTTPHelperFailure>, DeviceLoginError)? in
            let problem = HelperResponse.Problem(
                status: status, type: PlainText(showing: "revoked"), retryAfter: 1)
            return Device.server.map { (.success(.problem(problem)), .problem(problem, at: $0)) }
        }

    @Test(
        "a timeout, a wipe order with an unknown reason or an error status wipes nothing",
        arguments: harmless)
    func notObeyed(result: Result<HelperResponse, HTTPHelperFailure>, error: DeviceLoginError)
        throws
    {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        server.scripted = [result]
        #expect(throws: error) { try device.signIn(&server) }
        #expect(try device.tombstone() == nil)
        #expect(try device.signIn(&server).hasPrefix("wwl_"))
    }

    @Test("a response without a new secret of the next generation is refused")
    func unexpectedResponse() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        for (secret, generation) in [("wws_0", 1), ("wws_9", 0), ("wws_9", 2)] as [(String, UInt64)]
        {
            let acceptance = HelperResponse.Acceptance(
                verification: try #require(Token("vf_1")), login: SecretBytes(text: "wwl_1"),
                expiresAt: PlainText(showing: ""),
                next: HelperResponse.NextSecret(
                    secret: SecretBytes(text: secret), generation: generation))
            server.scripted = [.success(.accepted(acceptance))]
            #expect(throws: DeviceLoginError.unexpectedResponse) { try device.signIn(&server) }
        }
        #expect(try device.signIn(&server).hasPrefix("wwl_"))
    }

    @Test("an enrolment whose generation leaves no room for later ones is refused")
    func lastGeneration() throws {
        let device = try Device()
        var server = TestServer()
        let credential = try #require(Token("cr_1"))
        func enrol(_ generation: UInt64) throws {
            let handed = HelperResponse.NextSecret(
                secret: SecretBytes(text: "wws_1"), generation: generation)
            server.scripted = [.success(.enrolled(credential: credential, handed))]
            try device.enrol(&server)
        }
        #expect(throws: DeviceLoginError.unexpectedResponse) { try enrol(1 << 62) }
        #expect(try device.unlock().entries.isEmpty)
        try enrol(1 << 62 - 1)
    }

    @Test("a device can still sign in to a server that lost its last decision")
    func rolledBack() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        _ = try device.signIn(&server)
        server.loseLastDecision()
        #expect(try device.signIn(&server).hasPrefix("wwl_"))
        #expect(server.row.wiped == nil)
    }

    @Test("two logins at the same time take turns")
    func turns() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        let vault = try device.unlock()
        let turn = try vault.takeLoginLock()
        let other = try device.unlock()
        #expect(throws: VaultError.busy) { _ = try other.takeLoginLock(timeout: .milliseconds(50)) }
        turn.end()
        // An unlocked vault sees the changes of a later login that used a different instance of the
        // vault.
        for number in 1...2 {
            #expect(try device.signIn(&server, vault: vault) == "wwl_\(2 * number - 1)")
            #expect(try device.signIn(&server, vault: other) == "wwl_\(2 * number)")
        }
    }

    @Test("a new enrolment purges the previous one of the same name, and no other")
    func again() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        server.credential = "cr_bob"
        try device.enrol(&server, ticket: SecretBytes(text: "wwt_bob"), account: "bob")
        server.credential = "cr_new"
        try device.enrol(&server, ticket: SecretBytes(text: "wwt_new"))
        #expect(try device.unlock().entries.map(\.account) == ["bob", "alice"])
        #expect(!(try device.keepsPrevious()))
        let access = try #require(try device.unlock().entries.last).accessControl
        #expect(access == .standard(for: .enrolled))
    }

    @Test("a new enrolment replaces a per-use entry only after a check")
    func replacedWithConsent() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        let access = AccessControl(presence: .perUse(.passphrase), onFailure: .lockOut)
        let vault = try device.unlock()
        let id = try #require(vault.entries.first).id
        try vault.update { changes throws(VaultError) in
            try changes.setAccessControl(of: id, to: access)
        }
        let ticket = SecretBytes(text: "wwt_new")
        // This would be the response to the next request, but no request must be sent.
        server.scripted = [.failure(.timedOut)]
        #expect(throws: DeviceLoginError.vault(.presenceNeeded)) {
            try device.enrol(&server, ticket: ticket)
        }
        #expect(server.scripted.count == 1)
        server.scripted = []
        #expect(try device.unlock().entries.map(\.id) == [id])
        try device.enrol(&server, ticket: ticket, confirmed: [id])
        let new = try #require(try device.unlock().entries.first)
        #expect(new.id != id && new.accessControl == access)
    }

    @Test("an enrolment whose response was lost can be repeated with the same ticket")
    func enrolmentLost() throws {
        let device = try Device()
        var server = TestServer()
        server.faults = [.answerLost, .answerLost]
        #expect(throws: Device.lostConnection) { try device.enrol(&server) }
        #expect(try device.unlock().entries.isEmpty)
        try device.enrol(&server)
        #expect(try device.signIn(&server) == "wwl_1")
    }

    @Test("a ticket that is sent again yields neither a second entry nor an older secret")
    func ticketAgain() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        let known = DeviceLoginError.alreadyEnrolled(as: "Mill:alice")
        #expect(throws: known) { try device.enrol(&server, account: "bob") }
        // Under its original name, the unused entry is stored again.
        try device.enrol(&server)
        #expect(try device.unlock().entries.map(\.account) == ["alice"])
        for _ in 0..<2 { _ = try device.signIn(&server) }
        for account in ["alice", "bob"] {
            #expect(throws: known) { try device.enrol(&server, account: account) }
        }
        #expect(try device.unlock().entries.map(\.account) == ["alice"])
        #expect(try device.signIn(&server) == "wwl_3")
        #expect(server.row.wiped == nil)
    }

    @Test("an earlier enrolment stays until the new one succeeds")
    func earlierStays() throws {
        let device = try Device()
        var server = TestServer()
        try device.enrol(&server)
        let problem = HelperResponse.Problem(
            status: 404, type: PlainText(showing: ""), retryAfter: 0)
        server.scripted = [.success(.problem(problem))]
        let refusal = DeviceLoginError.problem(problem, at: try #require(Device.server))
        #expect(throws: refusal) {
            try device.enrol(&server, ticket: SecretBytes(text: "wwt_wrong"))
        }
        for text in ["no ticket", "hello", "wwt_", "wwx_challenge", "Wwt_a", "wwt_a b"] {
            #expect(throws: DeviceLoginError.badTicket, "\(text)") {
                try device.enrol(&server, ticket: SecretBytes(text: text))
            }
        }
        #expect(try device.signIn(&server) == "wwl_1")
    }
}
