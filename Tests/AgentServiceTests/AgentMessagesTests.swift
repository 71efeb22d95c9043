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
        for request in try sampleRequests() { try expectRoundTrip(request) }
        let opener = VaultOpener.recoveryKey(try .make())
        try expectRoundTrip(
            AgentRequest.unlock(try samplePlace(), opener, ceiling: 20, .standard))
    }

    /// A place that is the same in each run.
    private func samplePlace() throws -> VaultPlace {
        let frame = try FrameWriter()
        frame.append(UInt64(1))
        frame.append(UInt64(2))
        frame.append("vault")
        frame.append("/folder/vault")
        return try frame.withContent { try VaultPlace(parsing: $0) }
    }

    private func sampleRequests() throws -> [AgentRequest] {
        let place = try samplePlace()
        let id = try RecordID(parsing: [UInt8](1...16).span)
        let presences: [AgentPresence] = [
            .none, .opener(.passphrase(secret)), .modules("To show the code"),
        ]
        var requests: [AgentRequest] = [
            .unlock(place, .passphrase(secret), ceiling: 20, .standard), .lock(place), .lockAll,
            .status, .stop, .list(place), .lockOut(place, id), .check(place), .answer(secret),
            .cancel, .code(place, id, .counter, .none),
            .prove(place, .passphrase(secret), ceiling: 20),
            .contents(place, [], .none, isUse: false),
            .contents(place, [id, id], .modules("To show"), isUse: true),
            .confirm(place, id, .none), .rehearse(place, .remove(id, purge: false)),
            .edit(place, .rename(id, to: EntryName(issuer: "i", account: "a")), .none),
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
        return requests
    }

    @Test("a changed encoding has a new version of the protocol")
    func version() throws {
        // FNV-1a, which needs no library.
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        let samples =
            try sampleRequests().map { try bytes(of: $0) }
            + sampleResponses().map { try bytes(of: $0) }
        for byte in samples.joined() { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        // If the digest differs because an encoding has changed, and not because of a new sample,
        // change the version; then record both numbers here.
        #expect(AgentProtocol.version == 3)
        #expect(String(digest, radix: 16) == "f0c95a90e56d3249")
    }

    @Test("every response is read as it was sent")
    func responses() throws {
        for response in try sampleResponses() { try expectRoundTrip(response) }
    }

    private func sampleResponses() throws -> [AgentResponse] {
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
        return responses
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
