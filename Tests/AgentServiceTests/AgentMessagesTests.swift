import Cryptography
import POSIX
import PresenceDevices
import SecretVault
import TestSupport
import Testing
import VaultAgent

struct AgentMessagesTests {
    private func bytes(of value: some Transferable) throws -> [UInt8] {
        let frame = try FrameWriter()
        frame.append(value)
        return frame.withContent { [UInt8](copying: $0) }
    }

    /// Encodes, decodes and encodes again.
    private func expectRoundTrip<Value: Transferable>(_ value: Value) throws {
        let encoded = try bytes(of: value)
        let again = try bytes(of: Value(parsing: encoded.span))
        #expect(again == encoded, "\(value)")
        expectUnreadable(Value.self, encoded + [0])
        for count in encoded.indices { expectUnreadable(Value.self, Array(encoded[..<count])) }
    }

    private func expectUnreadable<Value: Transferable>(_ type: Value.Type, _ bytes: [UInt8]) {
        do {
            _ = try Value(parsing: bytes.span)
            Issue.record("\(type) accepts \(bytes)")
        } catch {
            // As it should.
        }
    }

    private let secret = SecretBytes(copying: [1, 2, 3].span)

    @Test("every request is read as it was sent")
    func requests() throws {
        let folder = try TemporaryFolder()
        let place = try VaultPlace(at: folder.file("vault"))
        let id = try RecordID(parsing: [UInt8](1...16).span)
        let presences: [AgentPresence] = [
            .none, .opener(.passphrase(secret)), .opener(.recoveryKey(try .make())),
            .modules("To show the code"),
        ]
        var requests: [AgentRequest] = [
            .unlock(place, .passphrase(secret), ceiling: 20, .standard), .lock(place), .lockAll,
            .status, .stop, .list(place), .lockOut(place, id), .check(place), .answer(secret),
            .cancel, .code(place, id, .counter, .none),
            .prove(place, .passphrase(secret), ceiling: 20),
            .contents(place, [], .none, isUse: false),
            .contents(place, [id, id], .modules("To show"), isUse: true),
        ]
        for presence in presences {
            for isRefresh in [false, true] {
                let time = CodeTime.moment(-5, offset: 1, isRefresh: isRefresh)
                requests.append(.code(place, id, time, presence))
            }
            for moment in [nil, Int64(59)] {
                let code = CodeComparison(code: "287082", moment: moment, behind: 1, ahead: 10)
                requests.append(.verify(place, id, code, presence))
            }
        }
        for request in requests { try expectRoundTrip(request) }
    }

    @Test("every response is read as it was sent")
    func responses() throws {
        let call = SystemCallFailure(call: "open", number: 13)
        let reasons: [PAMCheckFailure.Reason] = [
            .timedOut, .cancelled, .noServiceFile, .noTerminal, .answerTooLong, .terminal(call),
            .noUserName, .accountRefused(PAMCallFailure(call: .validateAccount, code: 13)),
            .failed(PAMCallFailure(call: .authenticate, code: 7)), .talksTooMuch, .nonsense,
            .programNotFound, .otherVersion, .system(call),
        ]
        let endings: [ChildProcess.Ending] = [
            .exited(1), .crashed(signal: 11), .forbiddenCall, .processorTimeSpent, .killed,
            .unknown,
        ]
        var responses: [AgentResponse] = [
            .contents([.plainSecret(issuer: "a", account: "b", value: secret)]), .contents([]),
            .done, .notHeld, .outOfReach, .code(IssuedCode(text: "123456", counter: nil)),
            .code(IssuedCode(text: "123456", counter: 7)), .match(nil), .match(-3),
            .failed(.noSuchEntry), .refused(.wait(seconds: 60)), .noCode, .says("touch it"),
            .asks("Password: ", isEchoed: false), .misunderstood, .otherVersion, .tooManyClients,
            .status(
                AgentStatus(
                    process: 7, limitsFiles: true,
                    vaults: [.init(path: "/v", idle: .seconds(1), total: .seconds(2))])),
            .listing(
                VaultListing(
                    generation: 3, entries: [], slots: [],
                    reports: [.olderFile(generation: 1, newest: 2)],
                    uses: [.init(id: try RecordID(parsing: [UInt8](1...16).span), time: 5)])),
        ]
        responses += LockReason.allCases.map(AgentResponse.locked)
        responses += (reasons + endings.map(PAMCheckFailure.Reason.ended)).map {
            .noVerdict(PAMCheckFailure(reason: $0, mayConcealAttempt: true))
        }
        for response in responses { try expectRoundTrip(response) }
    }

    @Test("values outside their limits are refused")
    func limits() throws {
        for seconds in [0, -1, HoldingTime.longest.wholeSeconds + 1] {
            let time = HoldingTime(idle: .seconds(1), total: .seconds(seconds))
            expectUnreadable(HoldingTime.self, try bytes(of: time))
        }
        let folder = try TemporaryFolder()
        let place = try VaultPlace(at: folder.file("vault"))
        for ceiling in [-1, 9, Vault.maximumCeiling + 1, .max] {
            let unlock = AgentRequest.unlock(
                place, .passphrase(secret), ceiling: ceiling, .standard)
            expectUnreadable(AgentRequest.self, try bytes(of: unlock))
        }
        let wide = CodeComparison(
            code: "1", moment: nil, behind: 0, ahead: CodeComparison.widest + 1)
        expectUnreadable(CodeComparison.self, try bytes(of: wide))
    }
}
