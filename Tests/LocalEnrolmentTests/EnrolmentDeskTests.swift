import Glibc
import OneTimePassword
import TestSupport
import Testing
import Verification
import WatchwordCryptography
import WatchwordSystem

@testable import LocalEnrolment

@Suite("Enrolment by users of this machine")
struct EnrolmentDeskTests {
    @Test("the first authenticator needs the login password, and comes with recovery codes")
    func first() async throws {
        let fixture = try EnrolmentFixture()
        let (authenticator, codes) = try await fixture.enrolFirst()
        #expect(authenticator.entry.issuer == "mill.example")
        #expect("unix:mill.example:\(authenticator.entry.account)" == fixture.subject.text)
        #expect(codes.count == 10 && fixture.world.checks == 1)
        #expect(fixture.world.changes == [.added("phone"), .recoveryCodes])
        let list = try await fixture.list()
        #expect(list.map(\.kind) == ["totp", "recovery"] && list[0].name == "phone")
        #expect(list.allSatisfy { $0.state == "active" } && list[1].remaining == 10)
        let code = try PresentedCode(SecretBytes(text: authenticator.code(at: fixture.world.now)))
        let outcome = try await fixture.verifier.verify(code, subject: fixture.subject)
        guard case .accepted = outcome.result else { throw UnexpectedResponse() }
    }

    @Test("each change is recorded as an event with the user and the program that made it")
    func events() async throws {
        let fixture = try EnrolmentFixture()
        let account = try await fixture.enrolFirst().authenticator.entry.account
        let events = try await fixture.events()
        #expect(events.map(\.kind) == [.enrolmentStarted, .enrolled, .enrolled])
        #expect(events.allSatisfy { $0.origin.userAgent == "watchword-enrol (\(account))" })
        #expect(events.allSatisfy { $0.subject == fixture.subject })
    }

    @Test(
        "without the login password, no key is issued",
        arguments: [(false, .denied), (nil, .noPasswordCheck)] as [(Bool?, TaskRefusal)])
    func noPassword(verdict: Bool?, refusal: TaskRefusal) async throws {
        let fixture = try EnrolmentFixture()
        fixture.world.password = verdict
        let program = try await fixture.program(.add(name: ""))
        guard case .checksPassword = try await program.next() else { throw UnexpectedResponse() }
        #expect(try await program.refusal() == refusal)
        #expect(try await program.next() == nil)
        #expect(try await fixture.list() == [])
        #expect(try await fixture.events() == [])
    }

    @Test("the login password is checked up to three times without a wait, and then once a minute")
    func passwordLimited() async throws {
        let fixture = try EnrolmentFixture()
        fixture.world.password = false
        for _ in 0..<3 {
            let program = try await fixture.program(.add(name: ""))
            guard case .checksPassword = try await program.next() else {
                throw UnexpectedResponse()
            }
            #expect(try await program.refusal() == .denied)
        }
        fixture.world.password = true
        guard case .mustWait = try await fixture.program(.add(name: "")).refusal() else {
            throw UnexpectedResponse()
        }
        #expect(fixture.world.checks == 3)
    }

    @Test("after a wrong first code, the user may try again; the third wrong code ends the task")
    func firstCode() async throws {
        let fixture = try EnrolmentFixture()
        let program = try await fixture.program(.add(name: ""))
        guard case .checksPassword = try await program.next(),
            case .key = try await program.next()
        else { throw UnexpectedResponse() }
        for attempt in 0..<3 {
            let question = try await program.question()
            #expect(question?.0 == .firstCode && question?.1 == (attempt > 0))
            try await program.answer(attempt == 1 ? "not a code" : "000000")
        }
        #expect(try await program.refusal() == .notConfirmed)
        #expect(try await fixture.verifier.hasEverConfirmed(fixture.subject) == false)
        #expect(fixture.world.changes == [])
    }

    @Test("of two programs that know the login password, the second to finish needs a code")
    func firstOfTwo() async throws {
        let fixture = try EnrolmentFixture()
        let slow = try await fixture.program(.add(name: ""))
        guard case .checksPassword = try await slow.next(),
            case .key(let uri)? = try await slow.next()
        else { throw UnexpectedResponse() }
        _ = try await fixture.enrolFirst()
        try await slow.answer(Authenticator(uri).code(at: fixture.world.now), to: .firstCode)
        #expect(try await slow.refusal() == .needsTicket)
        #expect(try await fixture.list().count { $0.state == "active" } == 2)
    }

    @Test("N-33 a program that has only the login password cannot change credentials")
    func codeNeeded() async throws {
        let fixture = try EnrolmentFixture()
        let (authenticator, _) = try await fixture.enrolFirst()
        let id = try await fixture.list()[1].id
        // Only the wrong codes of the first two tasks are well-formed: a third well-formed code
        // would use up the attempts.
        let tasks: [(EnrolmentTask, String)] = [
            (.add(name: "malware"), "00000000"), (.remove(id), "00000000"),
            (.recoveryCodes, "000000 "),
        ]
        for (task, wrong) in tasks {
            let program = try await fixture.program(task)
            for text in ["", wrong, "password"] {
                try await program.answer(text, to: .code)
            }
            #expect(try await program.refusal() == .denied)
        }
        let program = try await fixture.program(.add(name: "tablet"))
        try await program.answer(authenticator.code(at: fixture.world.now), to: .code)
        _ = try await program.confirmKey(at: fixture.world.now)
        // The user already has recovery codes.
        guard case .done = try await program.next() else { throw UnexpectedResponse() }
        #expect(fixture.world.checks == 1)
        #expect(
            try await fixture.list().filter { $0.kind == "totp" }.map(\.name) == [
                "phone", "tablet",
            ]
        )
    }

    @Test("N-33 a recovery code permits only one change")
    func recoveryCode() async throws {
        let fixture = try EnrolmentFixture()
        let (_, codes) = try await fixture.enrolFirst()
        let first = try await fixture.program(.add(name: "new phone"))
        try await first.answer(codes[3].text, to: .code)
        _ = try await first.confirmKey(at: fixture.world.now)
        guard case .done = try await first.next() else { throw UnexpectedResponse() }
        let second = try await fixture.program(.recoveryCodes)
        try await second.answer(codes[3].text, to: .code)
        #expect(try await second.question()?.1 == true)
        second.leave()
        let third = try await fixture.program(.recoveryCodes)
        try await third.answer(codes[4].text, to: .code)
        guard case .recoveryCodes(let new) = try await third.next(),
            case .done = try await third.next()
        else { throw UnexpectedResponse() }
        #expect(new.count == 10 && !new.contains { $0 == codes[5] })
        #expect(fixture.world.changes.last == .recoveryCodes)
    }

    @Test("a user whose second factors have all ended needs an administrator's ticket")
    func ended() async throws {
        let fixture = try EnrolmentFixture()
        _ = try await fixture.enrolFirst()
        _ = try await fixture.verifier.closeAccount(of: fixture.subject)
        for task in [EnrolmentTask.add(name: ""), .recoveryCodes] {
            #expect(try await fixture.program(task).refusal() == .needsTicket)
        }
        let issued = try await fixture.verifier.issueOneTimePasswordTicket(
            OneTimePasswordEnrolment(issuer: "", account: "-", name: "new phone"),
            for: fixture.subject)
        guard case .granted(let grant) = issued else { throw UnexpectedResponse() }
        let program = try await fixture.program(.addWithTicket)
        try await program.answer("wwt_", to: .ticket)
        try await program.answer(grant.ticket.text.text, to: .ticket)
        let authenticator = try await program.confirmKey(at: fixture.world.now)
        #expect(authenticator.entry.issuer == "mill.example")
        guard case .recoveryCodes = try await program.next(), case .done = try await program.next()
        else { throw UnexpectedResponse() }
        #expect(fixture.world.checks == 1)
        #expect(fixture.world.changes.suffix(2) == [.added("new phone"), .recoveryCodes])
    }

    @Test("an authenticator that takes the last free place is enrolled without recovery codes")
    func noRoom() async throws {
        let fixture = try EnrolmentFixture()
        let phone = try await fixture.enrolFirst().authenticator
        let all = try await fixture.verifier.credentials(of: fixture.subject).credentials
        let recovery = try #require(all.first { $0.kind == .recovery })
        #expect(try await fixture.verifier.revoke(recovery.id) == .done)
        for number in 10..<(8 + Policy.standard.maximumCredentials) {
            let outcome = try await fixture.verifier.importOneTimePassword(
                OneTimePasswordImport(
                    key: SecretBytes(text: "sixteen bytes \(number)"),
                    factor: .time(period: 30, lastUsedStep: nil), isConfirmed: true),
                for: fixture.subject)
            guard case .imported = outcome else { throw UnexpectedResponse() }
        }
        let program = try await fixture.program(.add(name: "tablet"))
        try await program.answer(phone.code(at: fixture.world.now), to: .code)
        _ = try await program.confirmKey(at: fixture.world.now)
        #expect(try await program.refusal() == .noRecoveryCodes)
        #expect(fixture.world.changes.last == .added("tablet"))
    }

    @Test("another user's ticket is denied")
    func foreignTicket() async throws {
        let fixture = try EnrolmentFixture()
        let issued = try await fixture.verifier.issueOneTimePasswordTicket(
            OneTimePasswordEnrolment(issuer: "", account: "-"),
            for: #require(Subject("unix:mill.example:somebody-else")))
        guard case .granted(let grant) = issued else { throw UnexpectedResponse() }
        let program = try await fixture.program(.addWithTicket)
        for _ in 0..<3 { try await program.answer(grant.ticket.text.text, to: .ticket) }
        #expect(try await program.refusal() == .denied)
    }

    @Test("the last authenticator cannot be removed, and any other one can be removed with a code")
    func removal() async throws {
        let fixture = try EnrolmentFixture()
        let (phone, codes) = try await fixture.enrolFirst()
        let id = try await fixture.list()[0].id
        #expect(try await fixture.program(.remove(id)).refusal() == .lastAuthenticator)
        #expect(try await fixture.program(.remove("cr_")).refusal() == .unknownCredential)
        let program = try await fixture.program(.add(name: "tablet"))
        try await program.answer(codes[0].text, to: .code)
        _ = try await program.confirmKey(at: fixture.world.now)
        guard case .done = try await program.next() else { throw UnexpectedResponse() }
        let removing = try await fixture.program(.remove(id))
        try await removing.answer(phone.code(at: fixture.world.now), to: .code)
        guard case .done = try await removing.next() else { throw UnexpectedResponse() }
        #expect(try await fixture.list().filter { $0.kind == "totp" }.map(\.name) == ["tablet"])
        #expect(fixture.world.changes.last == .removed("phone"))
    }

    @Test("of two programs that each try to remove one of two authenticators, only one succeeds")
    func twoRemovals() async throws {
        let fixture = try EnrolmentFixture()
        let (_, codes) = try await fixture.enrolFirst()
        let adding = try await fixture.program(.add(name: "tablet"))
        try await adding.answer(codes[0].text, to: .code)
        _ = try await adding.confirmKey(at: fixture.world.now)
        guard case .done = try await adding.next() else { throw UnexpectedResponse() }
        let list = try await fixture.list()
        let first = try await fixture.program(.remove(list[0].id))
        let second = try await fixture.program(.remove(list[1].id))
        #expect(try await first.question()?.0 == .code)
        #expect(try await second.question()?.0 == .code)
        try await first.answer(codes[1].text)
        guard case .done = try await first.next() else { throw UnexpectedResponse() }
        try await second.answer(codes[2].text)
        #expect(try await second.refusal() == .lastAuthenticator)
        #expect(try await fixture.list().map(\.kind) == ["totp", "recovery"])
    }

    @Test("a credential of another user is unknown")
    func foreignCredential() async throws {
        let fixture = try EnrolmentFixture()
        _ = try await fixture.enrolFirst()
        let bob = try #require(Subject("unix:mill.example:somebody-else"))
        let outcome = try await fixture.verifier.enrolRecoveryCodes(for: bob)
        guard case .granted(let grant) = outcome else { throw UnexpectedResponse() }
        let program = try await fixture.program(.remove(grant.credential.text))
        #expect(try await program.refusal() == .unknownCredential)
    }

    @Test("without an authenticator, there are no recovery codes")
    func notEnrolled() async throws {
        let fixture = try EnrolmentFixture()
        #expect(try await fixture.program(.recoveryCodes).refusal() == .notEnrolled)
    }

    @Test("wrong codes are limited for each user, so that programs cannot use up the attempts")
    func limited() async throws {
        let fixture = try EnrolmentFixture()
        let (_, codes) = try await fixture.enrolFirst()
        let program = try await fixture.program(.recoveryCodes)
        for _ in 0..<3 { try await program.answer("00000000", to: .code) }
        #expect(try await program.refusal() == .denied)
        let next = try await fixture.program(.recoveryCodes)
        try await next.answer(codes[0].text, to: .code)
        guard case .mustWait(let seconds) = try await next.refusal() else {
            throw UnexpectedResponse()
        }
        #expect((1...60).contains(seconds))
    }
}

@Suite("Conversations about enrolment")
struct EnrolmentConversationTests {
    @Test("a user may have two conversations at a time")
    func crowd() async throws {
        let fixture = try EnrolmentFixture()
        let first = try UserProgram(fixture.desk)
        let second = try UserProgram(fixture.desk)
        let third = try UserProgram(fixture.desk)
        #expect(try await third.refusal() == .busy)
        first.leave()
        #expect(try await first.next() == nil)
        while fixture.desk.count > 1 { await Task.yield() }
        #expect(try await fixture.list() == [])
        second.leave()
    }

    @Test("a program whose user ID has no name is refused before it sends anything")
    func noName() async throws {
        let fixture = try EnrolmentFixture()
        let program = try UserProgram(fixture.desk, user: 4_000_000_000)
        #expect(try await program.refusal() == .noName)
    }

    @Test("a program of a different version is informed of the mismatch, and nothing is done")
    func version() async throws {
        let fixture = try EnrolmentFixture()
        let program = try UserProgram(fixture.desk)
        try await program.send(.begin(version: EnrolmentRequest.version + 1, .recoveryCodes))
        #expect(try await program.refusal() == .otherVersion)
    }

    @Test("a program that breaks the protocol loses its connection")
    func nonsense() async throws {
        let fixture = try EnrolmentFixture()
        let hasty = try UserProgram(fixture.desk)
        try await hasty.answer("000000")
        #expect(try await hasty.next() == nil)
        let long = try UserProgram(fixture.desk)
        try await long.answer(String(repeating: "0", count: EnrolmentRequest.largest))
        #expect(try await long.next() == nil)
        _ = try await fixture.enrolFirst()
        let twice = try await fixture.program(.recoveryCodes)
        #expect(try await twice.question()?.0 == .code)
        try await twice.send(.begin(version: EnrolmentRequest.version, .list))
        #expect(try await twice.next() == nil)
    }

    @Test("the desk ends conversations that wait for a person, and accepts no more")
    func stop() async throws {
        let fixture = try EnrolmentFixture()
        let waiting = try await fixture.program(.addWithTicket)
        #expect(try await waiting.question()?.0 == .ticket)
        #expect(await fixture.desk.stop(grace: .seconds(60)))
        #expect(try await waiting.next() == nil)
        #expect(try await UserProgram(fixture.desk).refusal() == .busy)
    }

    @Test("each message decodes unchanged, and malformed messages are refused")
    func messages() throws {
        let tasks: [EnrolmentTask] = [
            .list, .add(name: "é"), .addWithTicket, .remove("cr_"), .recoveryCodes,
        ]
        for task in tasks { try MessageForm.check(EnrolmentRequest.begin(version: 1, task)) }
        try MessageForm.check(EnrolmentRequest.answer(SecretBytes(text: "123456")))
        let credential = OwnCredential(
            id: "cr_", kind: "totp", state: "active", name: "", createdAt: "2026", lastUsedAt: nil,
            remaining: 3)
        let refusals: [TaskRefusal] = [
            .otherVersion, .busy, .noName, .denied, .notConfirmed, .notEnrolled,
            .mustWait(seconds: 7), .needsTicket, .noPasswordCheck, .tooMany, .noRecoveryCodes,
            .unknownCredential, .lastAuthenticator, .unavailable,
        ]
        let responses: [EnrolmentResponse] =
            EnrolmentQuestion.allCases.map { .asks($0, isRepeated: true) }
            + [
                .checksPassword, .credentials([credential, credential]),
                .key(SecretBytes(text: "otpauth:")), .recoveryCodes([SecretBytes(text: "A")]),
                .done,
            ] + refusals.map { .refused($0) }
        for response in responses { try MessageForm.check(response) }
    }

    @Test("text from the server cannot control the terminal")
    func controlCharacters() throws {
        for text in ["otpauth:\u{1B}[2J", "AAAA BBBB", "A\n", "\u{9B}2J"] {
            let text = SecretBytes(text: text)
            for response in [EnrolmentResponse.key(text), .recoveryCodes([text])] {
                let bytes = try MessageForm.bytes(of: response)
                let isRead = MessageForm.read(bytes, as: EnrolmentResponse.self) != nil
                #expect(!isRead)
            }
        }
    }
}
