import Devices
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault
@testable import VaultService

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

    /// Expects that the first byte of each sample is its kind.
    private func expect<Value: Transferable, Kind: RawRepresentable>(
        _ samples: [Value], of kind: Kind
    ) throws where Kind.RawValue == UInt8 {
        #expect(!samples.isEmpty)
        for sample in samples {
            #expect(try bytes(of: sample).first == kind.rawValue, "\(sample)")
            try expectRoundTrip(sample)
        }
    }

    @Test("every request is read as it was sent", arguments: AgentRequest.Kind.allCases)
    func requests(_ kind: AgentRequest.Kind) throws {
        try expect(try samples(of: kind), of: kind)
    }

    @Test("a request that asks for too much, or twice for the same, is refused")
    func amounts() throws {
        let place = try samplePlace()
        let names = (1...17).map { "n\($0)" }
        let ids = try (0...500).map { number in
            let bytes = [UInt8](repeating: 0, count: RecordID.count - 2)
            let end = [UInt8(number >> 8), UInt8(number & 255)]
            return try RecordID(parsing: (bytes + end).span)
        }
        let entry = ImportItem(
            .plainSecret(issuer: "", account: "", value: secret), details: EntryDetails(),
            origin: nil)
        func edit(_ count: Int, tags: Int = 0) -> AgentRequest {
            let tagged = ImportItem(
                entry.content,
                details: EntryDetails(tags: [String](repeating: "", count: tags)), origin: nil)
            let items = [tagged] + [ImportItem](repeating: entry, count: count - 1)
            return .rehearse(place, .importing(ImportEdit(items, DuplicateChoices(.skip))))
        }
        let most = TransferLimits.entries
        let accepted: [AgentRequest] = [
            .find(place, Array(names[..<16]), nil),
            .find(place, [String(repeating: "n", count: 8192)], nil),
            .contents(place, Array(ids[..<500]), .none, isUse: false), edit(most),
            edit(1, tags: 1024),
        ]
        for request in accepted {
            let bytes = try bytes(of: request)
            _ = try AgentRequest(parsing: bytes.span)
        }
        let refused: [AgentRequest] = [
            .find(place, names, nil), .find(place, ["a", "a"], nil),
            .find(place, ["e\u{301}", "é"], nil),
            .find(place, [String(repeating: "n", count: 8193)], nil),
            .contents(place, ids, .none, isUse: false),
            .contents(place, [ids[0], ids[0]], .none, isUse: false), edit(most + 1),
            edit(1, tags: 1025),
        ]
        for request in refused { expectUnreadable(AgentRequest.self, try bytes(of: request)) }
    }

    @Test("every step of a move is read as it was sent", arguments: VaultMove.Kind.allCases)
    func moves(_ kind: VaultMove.Kind) throws {
        try expect([try sample(of: kind)], of: kind)
    }

    @Test("every opener is read as it was sent")
    func openers() throws {
        let opener = VaultOpener.recoveryKey(.make())
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

    /// Requests of a kind; a new kind needs a sample here.
    private func samples(of kind: AgentRequest.Kind) throws -> [AgentRequest] {
        let place = try samplePlace()
        let opener = VaultOpener.passphrase(secret)
        let id = try RecordID(parsing: [UInt8](1...16).span)
        let presences: [AgentPresence] = [.none, .opener(opener), .modules("To show the code")]
        switch kind {
        case .unlock: return [.unlock(place, opener, ceiling: 20, .standard)]
        case .open: return [.open(place, opener, ceiling: 20)]
        case .standing: return [.standing(place, since: -5)]
        case .lock: return [.lock(place)]
        case .lockAll: return [.lockAll]
        case .status: return [.status]
        case .stop: return [.stop]
        case .list: return [.list(place)]
        case .find:
            return [
                .find(place, [], nil), .find(place, ["", "Zoë"], nil),
                .find(place, ["a"], .moment(59, offset: 0, isRefresh: false)),
            ]
        case .code:
            let times: [CodeTime] = [
                .counter, .moment(-5, offset: 1, isRefresh: false),
                .moment(-5, offset: 1, isRefresh: true),
            ]
            return times.flatMap { time in
                presences.map { AgentRequest.code(place, id, time, $0) }
            }
        case .verify:
            return [nil, Int64(59)].flatMap { moment in
                let code = CodeComparison(code: "287082", moment: moment, behind: 1, ahead: 10)
                return presences.map { AgentRequest.verify(place, id, code, $0) }
            }
        case .lockOut: return [.lockOut(place, id)]
        case .check: return [.check(place)]
        case .edit:
            let name = EntryName(issuer: "i", account: "a")
            return presences.map { .edit(place, .rename(id, to: name), $0) }
        case .confirm: return presences.map { .confirm(place, id, $0) }
        case .rehearse: return [.rehearse(place, .remove(id, purge: false))]
        case .prove: return [.prove(place, opener, ceiling: 20)]
        case .contents:
            return [
                .contents(place, [], .none, isUse: false),
                .contents(
                    place, [id, try RecordID(parsing: [UInt8](2...17).span)],
                    .modules("To show"), isUse: true),
            ]
        case .login: return presences.map { .login(place, secret, $0) }
        case .move: return try VaultMove.Kind.allCases.map { .move(try sample(of: $0)) }
        case .answer: return [.answer(secret)]
        case .cancel: return [.cancel]
        }
    }

    private func sample(of kind: VaultMove.Kind) throws -> VaultMove {
        let opener = VaultOpener.passphrase(secret)
        return switch kind {
        case .receive: .receive(try sampleParcel(), opener, ceiling: 20)
        case .confirm: .confirm(try sampleIdentity())
        case .activate: .activate(opener, ceiling: 20)
        case .give: .give(opener, ceiling: 20)
        case .discard: .discard(opener, try sampleIdentity(), ceiling: 20)
        }
    }

    private func sampleIdentity() throws -> VaultIdentity {
        let record = GenerationRecord(
            vaultID: [UInt8](repeating: 1, count: VaultDocument.vaultIDCount), generation: 7,
            changes: 1, digest: [UInt8](repeating: 2, count: VaultEnvelope.digestCount))
        let frame = try FrameWriter()
        frame.append(string: record.text.span)
        return try frame.withContent { try VaultIdentity(parsing: $0) }
    }

    /// A new vault, which differs in each run.
    private func sampleParcel() throws -> VaultParcel {
        let folder = try TemporaryFolder()
        try Vault.create(
            at: folder.file("vault"), passphrase: secret, cost: ScryptCost(logN: 10),
            recoveryKey: nil, now: 1)
        return try Vault.pack(folder.file("vault"))
    }

    @Test("a changed encoding has a new version of the protocol")
    func version() throws {
        // FNV-1a, which needs no library.
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        let requests = try AgentRequest.Kind.allCases.filter { $0 != .move }.flatMap(samples(of:))
        let moves: [VaultMove.Kind] = [.confirm, .activate, .give, .discard]
        let responses = try AgentResponse.Kind.allCases.filter { $0 != .parcel }
            .flatMap(samples(of:))
        let samples =
            try requests.map { try bytes(of: $0) }
            + moves.map { try bytes(of: try sample(of: $0)) }
            + responses.map { try bytes(of: $0) }
        for byte in samples.joined() { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        // If the digest differs because an encoding has changed, and not because of a new sample,
        // change the version; then record both numbers here.
        #expect(AgentProtocol.version == 8)
        #expect(String(digest, radix: 16) == "245c141f2d76b4a7")
    }

    @Test("every response is read as it was sent", arguments: AgentResponse.Kind.allCases)
    func responses(_ kind: AgentResponse.Kind) throws {
        try expect(try samples(of: kind), of: kind)
    }

    /// Responses of a kind; a new kind needs a sample here.
    private func samples(of kind: AgentResponse.Kind) throws -> [AgentResponse] {
        let id = try RecordID(parsing: [UInt8](1...16).span)
        let lockOut = LockOut(failures: 3, seconds: 60)
        let slots = [SlotSummary(number: 3, method: .recoveryKey, created: 0, publicKey: [1, 2])]
        let reports: [VaultReport] = [.olderFile(generation: 1, newest: 2), .wiped(id, tombstone)]
        let listing = VaultListing(
            generation: 3, entries: [], slots: slots, reports: reports,
            uses: [VaultListing.EntryUse(id: id, time: 5)])
        switch kind {
        case .done: return [.done]
        case .notHeld: return [.notHeld]
        case .locked: return LockReason.allCases.map(AgentResponse.locked)
        case .outOfReach: return [.outOfReach]
        case .notLocked: return [.notLocked]
        case .moving: return [.moving]
        case .standing:
            let status = VaultStatus(
                lockOut: lockOut, wiped: 1, failuresUntilLockOut: 5, failuresUntilWipe: nil)
            return [
                .standing(
                    VaultStanding(
                        slots: slots, status: status, isHeld: true, isMoving: false,
                        identity: try sampleIdentity()))
            ]
        case .parcel: return [.parcel(try sampleParcel())]
        case .listing: return [.listing(listing)]
        case .found: return [.found(listing, IssuedCode(text: "123456", counter: nil))]
        case .code:
            return [nil, 7].map { .code(IssuedCode(text: "123456", counter: $0)) }
        case .match: return [.match(-3)]
        case .noMatch: return [.match(nil)]
        case .lockOut: return [.lockOut(lockOut)]
        case .check:
            return [
                .check(
                    VaultCheck(
                        opened: 3, damages: [.record(id)], reports: reports, hasRecoveryKey: true,
                        previous: .whole(generation: 4)))
            ]
        case .status:
            let vault = AgentStatus.Vault(path: "/v", idle: .seconds(1), total: .seconds(2))
            return [
                .status(
                    AgentStatus(
                        process: 7, limitsFiles: true, locksKeys: false, folders: ["/f"],
                        vaults: [vault]))
            ]
        case .edited: return [.edited(.renamed, reports), .edited(.refused(.period), [])]
        case .failed: return [.failed(.noSuchEntry)]
        case .refused: return [.refused(.wait(seconds: 60))]
        case .noVerdict: return moduleFailures.map(AgentResponse.noVerdict)
        case .noCode: return [.noCode]
        case .login: return [.login(secret, reports)]
        case .contents:
            return [
                .contents([]),
                .contents([.plainSecret(issuer: "a", account: "b", value: secret)]),
            ]
        case .says: return [.says("touch it")]
        case .asks: return [true, false].map { .asks("Password: ", isEchoed: $0) }
        case .asksPIN:
            return [
                .asksPIN(isRepeated: false, left: nil), .asksPIN(isRepeated: true, left: 3),
            ]
        case .misunderstood: return [.misunderstood]
        case .otherVersion: return [.otherVersion]
        case .tooManyClients: return [.tooManyClients]
        }
    }

    private let tombstone = Tombstone(time: -5, reason: .reuseDetected)

    private var moduleFailures: [PAMCheckFailure] {
        let call = SystemCallFailure(call: "open", number: 13)
        let reasons: [PAMCheckFailure.Reason] = [
            .timedOut, .cancelled, .noServiceFile, .noTerminal, .answerTooLong, .terminal(call),
            .noUserName, .accountRefused(PAMCallFailure(call: .validateAccount, code: 13)),
            .failed(PAMCallFailure(call: .authenticate, code: 7)), .talksTooMuch, .nonsense,
            .programNotFound, .otherVersion, .system(call), .alreadyAsking(for: "A:a"),
        ]
        let endings: [ChildProcess.Ending] = [
            .exited(1), .crashed(signal: 11), .forbiddenCall, .processorTimeSpent, .killed,
            .unknown,
        ]
        return (reasons + endings.map(PAMCheckFailure.Reason.ended)).map {
            PAMCheckFailure(reason: $0, mayConcealAttempt: true)
        }
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
