import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Devices
@testable import SecretVault
@testable import VaultService

struct AgentMessagesTests {
    private func expectUnreadable<Message: Transferable>(_ message: Message) throws {
        let read: Message? = MessageForm.read(try MessageForm.bytes(of: message))
        #expect(read == nil, "\(message)")
    }

    private let secret = SecretBytes(copying: [1, 2, 3].span)

    @Test("every request decodes unchanged, and other bytes are refused")
    func requests() throws {
        try MessageForm.check(sampleRequests(), of: AgentRequest.Kind.allCases)
        let move = VaultMove.receive(try sampleParcel(), .passphrase(secret), ceiling: 20)
        try MessageForm.check(move, hasOneForm: false)
    }

    @Test("every response decodes unchanged, and other bytes are refused")
    func responses() throws {
        let parcel = AgentResponse.parcel(try sampleParcel())
        try MessageForm.check(parcel, hasOneForm: false)
        let others = AgentResponse.Kind.allCases.filter { $0 != .parcel }
        try MessageForm.check(sampleResponses(), of: others)
        try MessageForm.check(sampleReasons(), of: PAMCheckFailure.Reason.Kind.allCases)
    }

    @Test("a request that exceeds a limit, or repeats an item, is refused")
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
            let bytes = try MessageForm.bytes(of: request)
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
        for request in refused { try expectUnreadable(request) }
    }

    /// A place with the same encoding in each run.
    private func samplePlace() throws -> VaultPlace {
        let frame = try FrameWriter()
        frame.append(UInt64(1), UInt64(2), "vault", "/folder/vault")
        return try frame.withContent { try VaultPlace(parsing: $0) }
    }

    /// Requests of each kind that has fields, with each kind of field.
    private func sampleRequests() throws -> [AgentRequest] {
        let place = try samplePlace()
        let opener = VaultOpener.passphrase(secret)
        let id = try RecordID(parsing: [UInt8](1...16).span)
        let other = try RecordID(parsing: [UInt8](2...17).span)
        let presences: [AgentPresence] = [.none, .opener(opener), .modules("To show the code")]
        let times: [CodeTime] = [
            .counter, .moment(-5, offset: 1, isRefresh: false),
            .moment(-5, offset: 1, isRefresh: true),
        ]
        let comparisons = [nil, 59].map {
            CodeComparison(code: "287082", moment: $0, behind: 1, ahead: 10)
        }
        let name = EntryName(issuer: "i", account: "a")
        let moves: [VaultMove] = [
            .confirm(try sampleIdentity()), .activate(opener, ceiling: 20),
            .give(opener, ceiling: 20), .discard(opener, try sampleIdentity(), ceiling: 20),
        ]
        let requests: [AgentRequest] = [
            .unlock(place, opener, ceiling: 20, .standard), .open(place, opener, ceiling: 20),
            .standing(place, since: -5), .lock(place), .list(place), .find(place, [], nil),
            .find(place, ["", "Zoë"], times[0]), .lockOut(place, id), .check(place),
            .rehearse(place, .remove(id, purge: false)), .prove(place, opener, ceiling: 20),
            .contents(place, [], .none, isUse: false),
            .contents(place, [id, other], presences[2], isUse: true), .answer(secret),
            .undo(place, nil), .undo(place, sampleUndo(id)), .merge(place, MergeRequest([])),
            .merge(
                place,
                MergeRequest(
                    [1, 2, 3], acceptedWipes: [id, other], takesOldEdits: true,
                    seen: sampleMerge(id))),
        ]
        return requests + moves.map(AgentRequest.move)
            + times.map { .code(place, id, $0, .none) }
            + comparisons.map { .verify(place, id, $0, .none) }
            + presences.flatMap { presence -> [AgentRequest] in
                [
                    .edit(place, .rename(id, to: name), presence), .confirm(place, id, presence),
                    .login(place, secret, presence),
                ]
            }
    }

    private func sampleUndo(_ id: RecordID) -> [UndoneChange] {
        let former = EntryNames(issuer: "", account: "é")
        return [
            UndoneChange(
                id: id, issuer: "i", account: "a", renamedFrom: former,
                action: .changedBack([.name, .secret]), requiresCheck: true,
                changesCodesOfKey: false),
            UndoneChange(
                id: id, issuer: "", account: "", renamedFrom: nil, action: .removed,
                requiresCheck: false, changesCodesOfKey: true),
        ]
    }

    private func sampleMerge(_ id: RecordID) -> [MergeChange] {
        let copy = EntryNames(issuer: "i", account: "a (conflict)")
        return [
            MergeChange(
                id: id, issuer: "i", account: "a", action: .keptBoth(copy: copy),
                requiresCheck: true, changesCodesOfKey: false)
        ]
    }

    private func sampleIdentity() throws -> VaultIdentity {
        let record = GenerationRecord(
            vaultID: [UInt8](repeating: 1, count: VaultDocument.vaultIDCount), generation: 7,
            changes: 1, digest: [UInt8](repeating: 2, count: VaultEnvelope.digestCount))
        let frame = try FrameWriter()
        frame.append(string: record.text.span)
        return try frame.withContent { try VaultIdentity(parsing: $0) }
    }

    /// A new vault, whose encoding differs in each run.
    private func sampleParcel() throws -> VaultParcel {
        let folder = try TemporaryFolder()
        try Vault.create(
            at: folder.file("vault"), passphrase: secret, cost: .lowest,
            recoveryKey: nil, now: 1)
        return try Vault.pack(folder.file("vault"))
    }

    @Test("a changed encoding requires a new version of the protocol")
    func version() throws {
        // The FNV-1a digest, which needs no library.
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        let kinds =
            AgentRequest.Kind.allCases.map { "\($0)" } + AgentResponse.Kind.allCases.map { "\($0)" }
        let samples =
            try kinds.map { try MessageForm.bytes(of: $0) }
            + sampleRequests().map { try MessageForm.bytes(of: $0) }
            + sampleResponses().map { try MessageForm.bytes(of: $0) }
        for byte in samples.joined() { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        // If the digest differs because an encoding has changed, not because of a new sample,
        // increase the version; then record both numbers here.
        #expect(AgentProtocol.version == 12)
        #expect(String(digest, radix: 16) == "327378756957e348")
    }

    /// Responses of each kind that has fields, except ``AgentResponse/parcel(_:)``.
    private func sampleResponses() throws -> [AgentResponse] {
        let id = try RecordID(parsing: [UInt8](1...16).span)
        let lockOut = LockOut(failures: 3, seconds: 60)
        let slots = [SlotSummary(number: 3, method: .recoveryKey, created: 0, publicKey: [1, 2])]
        let reports: [VaultReport] = [.olderFile(generation: 1, newest: 2), .wiped(id, tombstone)]
        let listing = VaultListing(
            generation: 3, entries: [], slots: slots, reports: reports,
            uses: [VaultListing.EntryUse(id: id, time: 5)])
        let status = VaultStatus(
            lockOut: lockOut, wiped: 1, failuresUntilLockOut: 5, failuresUntilWipe: nil)
        let standing = VaultStanding(
            slots: slots, status: status, isHeld: true, isMoving: false,
            identity: try sampleIdentity())
        let check = VaultCheck(
            opened: 3, closed: 0, damages: [.record(id)], reports: reports, hasRecoveryKey: true,
            previous: .whole(generation: 4))
        let outline = MergeOutline(
            changes: sampleMerge(id), isIncluded: false, declinedWipes: [id], unmerged: [],
            leftToHome: [], leftToOwner: [], oldEdits: [], takesOldEdits: true, keys: .older,
            foreignSlots: slots, alarms: reports)
        let held = AgentStatus.Vault(path: "/v", idle: .seconds(1), total: .seconds(2))
        let responses: [AgentResponse] = [
            .standing(standing), .listing(listing),
            .found(listing, IssuedCode(text: "123456", counter: nil)),
            .code(IssuedCode(text: "123456", counter: 7)), .match(-3), .match(nil),
            .lockOut(lockOut), .check(check),
            .status(
                AgentStatus(
                    process: 7, limitsFiles: true, locksKeys: false, folders: ["/f"],
                    vaults: [held])),
            .edited(.renamed, reports), .edited(.refused(.period), []), .failed(.noSuchEntry),
            .undone(sampleUndo(id), onlyRestores: true, reports),
            .merged(outline, reports), .refused(.wait(seconds: 60)), .login(secret, reports),
            .contents([]),
            .contents([.plainSecret(issuer: "a", account: "b", value: secret)]),
            .says("touch it"), .asks("Password: ", isEchoed: true),
            .asks("Password: ", isEchoed: false), .asksPIN(isRepeated: false, left: nil),
            .asksPIN(isRepeated: true, left: 3),
            .fingersDiffer(.changed), .fingersDiffer(.damaged), .moved(.agent),
        ]
        return responses + LockReason.allCases.map(AgentResponse.locked)
            + sampleReasons().map {
                .noVerdict(PAMCheckFailure($0, mayConcealAttempt: true))
            }
    }

    private let tombstone = Tombstone(time: -5, reason: .reuseDetected)

    /// Reasons of each kind that has fields.
    private func sampleReasons() -> [PAMCheckFailure.Reason] {
        let call = SystemCallFailure(call: "open", number: 13)
        return [
            .terminal(call), .accountRefused(PAMCallFailure(call: .validateAccount, code: 13)),
            .failed(PAMCallFailure(call: .authenticate, code: 7)), .system(call),
            .ended(.crashed(signal: 11)), .alreadyAsking(for: "A:a"),
        ]
    }

    @Test("values outside their limits are refused")
    func limits() throws {
        for seconds in [0, -1, HoldingTime.longest.wholeSeconds + 1] {
            let time = HoldingTime(idle: .seconds(1), total: .seconds(seconds))
            try expectUnreadable(time)
        }
        let folder = try TemporaryFolder()
        let place = try VaultPlace(at: folder.file("vault"))
        for ceiling in [-1, 9, Vault.maximumCeiling + 1, .max] {
            let unlock = AgentRequest.unlock(
                place, .passphrase(secret), ceiling: ceiling, .standard)
            try expectUnreadable(unlock)
        }
        let wide = CodeComparison(
            code: "1", moment: nil, behind: 0, ahead: CodeComparison.widest + 1)
        try expectUnreadable(wide)
    }
}
