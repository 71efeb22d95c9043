import Devices
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import SecretVault

/// The values that `watchword` and its agent send to each other.
struct TransferTests {
    static let id = RecordID(Array(0..<16).span)
    private static let call = SystemCallFailure(call: "openat", number: -7)
    private static let tombstone = Tombstone(time: -5, reason: .reuseDetected)

    @Test("each error is decoded unchanged, and no other bytes are accepted")
    func errors() throws {
        let errors: [VaultError] = [
            .otherOwner(.max), .openToOthers(mode: 0o666), .newerVersion(.max), .newerAttempts(2),
            .damaged(.record(Self.id)), .copyDamaged(.manifest),
            .costOverCeiling(logN: 30, ceiling: 28),
            .notEnoughMemory(needed: .max, limit: 0), .lockedOut(seconds: 3600),
            .recoveryKeyLength(55, expected: 56),
            .notCounted(Self.call), .outcomeNotRecorded(Self.call),
            .inTheWay(name: "by-name/vault/lock"),
            .previousNotErased(Self.call), .notConfirmed(Self.call), .system(Self.call),
            .cryptography(CryptographyFailure(call: .scrypt, code: .max)),
            .deviceKey(.token(.otherDevice)),
        ]
        let refusals =
            VaultLimit.allCases.map(VaultError.overLimit)
            + PresenceProofRefusal.allCases.map(VaultError.proofRefused)
            + NothingToUndo.allCases.map(VaultError.nothingToUndo)
        try MessageForm.check(errors + refusals, of: VaultError.Kind.allCases)
        let problems: [DeviceKeyProblem] = [
            .notPlace(.agent), .token(.wrongPIN(left: 3)), .file(Self.call),
        ]
        try MessageForm.check(problems, of: DeviceKeyProblem.Kind.allCases)
    }

    @Test("each damaged part, report and cost decodes unchanged, and other bytes are refused")
    func reports() throws {
        let parts: [VaultPart] = [
            .checksum, .line(.max), .header, .slot(1), .manifest, .changes, .record(Self.id),
            .content(Self.id), .recordRemoved(Self.id), .recordRestored(Self.id),
        ]
        try MessageForm.check(parts, of: VaultPart.Kind.allCases)
        let reports: [VaultReport] = [
            .olderFile(generation: 1, newest: .max), .otherFile(generation: 2),
            .conflictingCopy(path: "/home/alice/vault (conflict é)"),
            .unmergedPrevious(path: "/home/alice/.watchword/by-name/vault/previous"),
            .wiped(Self.id, Self.tombstone), .generationNotRecorded(.system(Self.call)),
            .vanished(Self.id), .keptUnderSecondName(inode: .max), .wipesNotListed(.busy),
            .moreConflictingCopies(count: 3), .failuresNotCleared(.notFound),
            .notConfirmed(Self.call), .folderOwnedByOther(0), .folderOpenToOthers(mode: 0o777),
            .rekeyedCopy(path: "/home/alice/vault.orig"),
            .copyNotErased(path: "/home/alice/vault.orig"),
            .deviceKeyUnusable(Self.id, .missing),
        ]
        try MessageForm.check(reports, of: VaultReport.Kind.allCases)
        let previous: [PreviousGeneration] = [
            .none, .whole(generation: 4), .unusable(.damaged(.line(2))),
        ]
        try MessageForm.check(previous, of: PreviousGeneration.Kind.allCases)
        let costs: [RefusalCost] = [.free(left: 4), .wait(seconds: 30)]
        try MessageForm.check(costs, of: RefusalCost.Kind.allCases)
        for previous in previous {
            try MessageForm.check(
                VaultCheck(
                    opened: 3, closed: 0, damages: parts, reports: reports, hasRecoveryKey: true,
                    previous: previous))
        }
        try MessageForm.check(LockOut(failures: 7, seconds: 60))
        for left in [nil, 2] {
            try MessageForm.check(
                VaultStatus(
                    lockOut: LockOut(failures: 0, seconds: 0), wiped: 1, failuresUntilLockOut: 5,
                    failuresUntilWipe: left))
        }
    }

    @Test("each access control decodes unchanged, and other bytes are refused")
    func accessControl() throws {
        let presences =
            [.perUnlock] + AccessControl.Check.allCases.map(AccessControl.Presence.perUse)
        let costs: [AccessControl.OnFailure] =
            try [.lockOut] + [1, 3, 100].map { .wipe(after: try #require(FailureCount($0))) }
        for presence in presences {
            for cost in costs {
                for seconds in [0, 1, 300] {
                    let reuse = try #require(ReuseTime(seconds))
                    try MessageForm.check(
                        AccessControl(presence: presence, onFailure: cost, reuse: reuse))
                }
            }
        }
        #expect(throws: FieldReader.Unreadable()) {
            _ = try AccessControl.OnFailure(parsing: [101].span)
        }
        #expect(throws: FieldReader.Unreadable()) { _ = try ReuseTime(parsing: [1, 45].span) }
    }

    @Test("each kind of content decodes unchanged, even if the vault refuses it")
    func contents() throws {
        let tooLong = String(repeating: "é", count: VaultLimits.nameSize)
        let long = secret(String(repeating: "x", count: VaultLimits.secretSize + 1))
        let contents =
            try TestVault.contents() + [
                .oneTimePassword(
                    try Credential(
                        issuer: tooLong, account: "", key: secret("k"), style: .steam,
                        movingFactor: .time(#require(TimeStep(period: .max, start: .min))),
                        otherParameters: (0...RecordPayload.parameterLimit).map {
                            Credential.Parameter(name: "p\($0)", value: "\0")
                        })),
                .plainSecret(issuer: " ", account: tooLong, value: long),
                .uncomputed(
                    UncomputedCode(
                        kind: .motp, issuer: "a", account: "b", secret: secret("s"),
                        pin: secret("1234"))),
                .uncomputed(
                    UncomputedCode(
                        kind: .yandex, issuer: "", account: "", secret: long, pin: nil)),
            ]
        #expect(Set(contents.map(\.kind)) == Set(EntryKind.allCases))
        for content in contents { try MessageForm.check(content) }
    }

    @Test("a credential that is not valid is refused")
    func invalidContent() throws {
        let writer = try FrameWriter()
        writer.append("issuer", "account")
        let payload = RecordPayload.totp(key: secret(""), parameters: [])
        writer.append(upTo: EntryTraits.room) {
            EntryTraits.totp(.sha1, .steam, .standard).write(to: &$0)
        }
        writer.append(UInt32(payload.contentSize))
        writer.append(upTo: payload.contentSize) { payload.write(to: &$0) }
        #expect(throws: FieldReader.Unreadable()) {
            try writer.withContent { bytes throws(FieldReader.Unreadable) in
                _ = try EntryContent(parsing: bytes)
            }
        }
    }

    @Test("details decode unchanged, even if the vault refuses them")
    func details() throws {
        try MessageForm.check(EntryDetails())
        try MessageForm.check(
            EntryDetails(
                tags: ["", "a", "a"] + (0...VaultLimits.tags).map { "\($0)" },
                note: String(repeating: "n", count: VaultLimits.noteSize + 1),
                icon: String(repeating: "i", count: VaultLimits.iconSize + 1), isFavourite: true))
    }

    @Test("a secret is limited in size, whatever length is stated")
    func limits() throws {
        let tooLong = [UInt8](repeating: 0x61, count: TransferLimits.string + 1)
        let bytes = try MessageForm.bytes(of: SecretBytes(copying: tooLong.span))
        #expect(throws: FieldReader.Unreadable()) { try SecretBytes(parsing: bytes.span) }
    }

    @Test("a listed vault decodes unchanged")
    func listing() throws {
        let vault = try TestVault(recoveryKey: true)
        let ids = try vault.fill()
        let open = try vault.unlock()
        try open.update { changes throws(VaultError) in
            try changes.setDetails(
                of: ids[0], to: EntryDetails(tags: ["x"], note: "n", isFavourite: true), now: 5)
            try changes.wipe(ids[3], because: .revoked, now: 9)
        }
        #expect(open.listedEntries().map(\.counter) == [nil, 41, nil, nil])
        #expect(open.entries.map { $0.tombstone == nil } == [true, true, true, false])
        for entry in open.listedEntries() { try MessageForm.check(entry) }
        let other = SlotSummary(number: 3, method: .other("x"), created: 0, publicKey: [1, 2])
        let slots = try open.slots + DeviceSlots.vault().unlock().slots + [other]
        for slot in slots { try MessageForm.check(slot) }
        try MessageForm.check(slots.map(\.method), of: SlotSummary.Method.Kind.allCases)
        try MessageForm.check(try open.check())
    }

    @Test("the changes of an undo or a merge decode unchanged, and other bytes are refused")
    func changes() throws {
        let undone: [UndoneChange.Action] =
            OlderSecret.allCases.map { .restoredOlder($0) } + [
                .changedBack([]), .changedBack(EntryPart.allCases), .closed(device: "laptop é"),
            ]
        try MessageForm.check(undone, of: UndoneChange.Action.Kind.allCases)
        let merged: [MergeChange.Action] =
            OlderSecret.allCases.map { .restoredOlder($0) } + [
                .replaced([.details]), .keptBoth(copy: EntryNames(issuer: "i", account: "a")),
            ]
        try MessageForm.check(merged, of: MergeChange.Action.Kind.allCases)
        let vault = try TestVault()
        _ = try vault.fill()
        let open = try vault.unlock()
        for keys in VaultKeyOrder.allCases {
            try MessageForm.check(
                MergeOutline(
                    changes: [], isIncluded: true, declinedWipes: [Self.id],
                    unmerged: open.entries, leftToHome: [], leftToOwner: [open.entries[0]],
                    oldEdits: [open.entries[1]], takesOldEdits: false, keys: keys,
                    foreignSlots: open.slots, alarms: []))
        }
    }

    @Test("the device of an entry, its key and a choice of binding decode unchanged")
    func devices() throws {
        let bound = try BoundVault()
        for vault in [try bound.home(), try bound.elsewhere()] {
            for entry in vault.listedEntries() { try MessageForm.check(entry) }
        }
        try MessageForm.check(bound.home().key.device(bound.key))
        for binding in [nil, .tpm, .agent, .file] as [DeviceBinding?] {
            try MessageForm.check(BindingChoice(binding, deviceName: "laptop", tpm: .standard))
        }
    }

    @Test("an opener decodes unchanged, and a recovery key of a wrong length is refused")
    func openers() throws {
        let key = RecoveryKey.make()
        let slot = SlotSummary(
            number: 3, method: .tpm2(DeviceSlots.object()), created: 0, publicKey: [1, 2])
        let openers: [VaultOpener] = [
            .passphrase(secret("p")), .recoveryKey(key), .device(DeviceSlots.secret, of: slot),
        ]
        try MessageForm.check(openers, of: VaultOpener.Kind.allCases)
        let short = try MessageForm.bytes(of: secret("31 bytes, one fewer than enough"))
        #expect(short.count == 4 + 31)
        #expect(throws: FieldReader.Unreadable()) { try RecoveryKey(parsing: short.span) }
    }
}
