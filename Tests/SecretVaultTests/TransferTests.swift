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
        let plain: [VaultError] = [
            .notFound, .alreadyExists, .previousLeft, .reservedPath, .previousGeneration, .folder,
            .symbolicLink, .notAFile, .notAVault, .truncated, .wrongPassphrase, .wrongRecoveryKey,
            .wrongDevice, .writable, .wipingDue, .vanished, .vanishedEntries, .conflictMarkers,
            .copyHasNewerKey, .openedReadOnly, .presenceNeeded, .differentCheckRequired, .busy,
            .replaced, .changedMeanwhile, .rekeyed, .noSuchEntry, .otherVault, .wiped,
            .spaceAroundName, .invalidTag, .otherKind, .tooLarge, .counterExhausted, .noSuchSlot,
            .lastSlot,
        ]
        let detailed: [VaultError] = [
            .otherOwner(.max), .openToOthers(mode: 0o666), .newerVersion(.max), .newerAttempts(2),
            .damaged(.record(Self.id)), .copyDamaged(.manifest),
            .costOverCeiling(logN: 30, ceiling: 28),
            .notEnoughMemory(needed: .max, limit: 0), .lockedOut(seconds: 3600),
            .notCounted(Self.call), .outcomeNotRecorded(Self.call),
            .inTheWay(name: "by-name/vault/lock"),
            .previousNotErased(Self.call), .notConfirmed(Self.call), .system(Self.call),
            .cryptography(CryptographyFailure(call: .scrypt, code: .max)),
        ]
        let errors =
            plain + detailed + VaultLimit.allCases.map(VaultError.overLimit)
            + PresenceProofError.allCases.map(VaultError.proofRefused)
            + NothingToUndo.allCases.map(VaultError.nothingToUndo)
        try roundTrip(errors, of: VaultError.Kind.allCases)
    }

    @Test("each damaged part, report and cost is read back as it was, and nothing else is")
    func reports() throws {
        let parts: [VaultPart] = [
            .checksum, .line(.max), .header, .slot(1), .manifest, .changes, .record(Self.id),
            .content(Self.id), .recordRemoved(Self.id), .recordRestored(Self.id),
        ]
        try roundTrip(parts, of: VaultPart.Kind.allCases)
        let reports: [VaultReport] = [
            .olderFile(generation: 1, newest: .max), .otherFile(generation: 2),
            .conflictingCopy(path: "/home/alice/vault (conflict é)"),
            .unmergedPrevious(path: "/home/alice/.watchword/by-name/vault/previous"),
            .wiped(Self.id, Self.tombstone), .generationNotRecorded(.system(Self.call)),
            .vanished(Self.id), .keptUnderSecondName(inode: .max), .wipesNotListed(.busy),
            .moreConflictingCopies(count: 3), .failuresNotCleared(.notFound), .failuresNotCounted,
            .notConfirmed(Self.call), .folderOwnedByOther(0), .folderOpenToOthers(mode: 0o777),
            .formerKey, .rekeyedCopy(path: "/home/alice/vault.orig"),
            .copyNotErased(path: "/home/alice/vault.orig"),
        ]
        try roundTrip(reports, of: VaultReport.Kind.allCases)
        let previous: [PreviousGeneration] = [
            .none, .whole(generation: 4), .unusable(.damaged(.line(2))),
        ]
        try roundTrip(previous, of: PreviousGeneration.Kind.allCases)
        try roundTrip(
            [.free(left: 4), .wait(seconds: 30), .wiped, .notCounted] as [RefusalCost],
            of: RefusalCost.Kind.allCases)
        for previous in previous {
            try roundTrip(
                VaultCheck(
                    opened: 3, damages: parts, reports: reports, hasRecoveryKey: true,
                    previous: previous))
        }
        try roundTrip(LockOut(failures: 7, seconds: 60))
        for left in [nil, 2] {
            try roundTrip(
                VaultStatus(
                    lockOut: LockOut(failures: 0, seconds: 0), wiped: 1, failuresUntilLockOut: 5,
                    failuresUntilWipe: left))
        }
    }

    @Test("each access control is read back as it was, and nothing else is")
    func accessControl() throws {
        let presences =
            [.perUnlock] + AccessControl.Check.allCases.map(AccessControl.Presence.perUse)
        let costs: [AccessControl.OnFailure] =
            try [.lockOut] + [1, 3, 100].map { .wipe(after: try #require(FailureCount($0))) }
        for presence in presences {
            for cost in costs {
                for seconds in [0, 1, 300] {
                    let reuse = try #require(ReuseTime(seconds))
                    try roundTrip(
                        AccessControl(presence: presence, onFailure: cost, reuse: reuse))
                }
            }
        }
        var fields = FieldReader(.bigEndian)
        #expect(throws: FieldReader.Unreadable()) {
            try AccessControl.OnFailure(reading: &fields, in: [101].span)
        }
        #expect(throws: FieldReader.Unreadable()) {
            try ReuseTime(reading: &fields, in: [0, 1, 45].span)
        }
    }

    @Test("each kind of content is read back as it was, also if the vault refuses it")
    func contents() throws {
        let tooLong = String(repeating: "é", count: VaultLimits.nameSize)
        let long = secret(String(repeating: "x", count: VaultLimits.secretSize + 1))
        let contents =
            try TestVault.contents() + [
                .oneTimePassword(
                    try Credential(
                        issuer: tooLong, account: "", key: secret("k"), style: .steam,
                        movingFactor: .time(TimeStep(period: .max, start: .min)),
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
        for content in contents {
            let bytes = try encoded(content)
            #expect(try Facts(EntryContent(parsing: bytes.span)) == Facts(content))
            refusesOthers(EntryContent.self, bytes)
        }
    }

    @Test("a credential that is not valid is refused")
    func invalidContent() throws {
        let writer = try FrameWriter()
        writer.append(text: "issuer")
        writer.append(text: "account")
        let payload = RecordPayload.totp(key: secret(""), parameters: [])
        writer.append(upTo: EntryTraits.room) {
            EntryTraits.totp(.sha1, .steam, .standard).write(to: &$0)
        }
        writer.append(UInt64(payload.contentSize), bytes: 4)
        writer.append(upTo: payload.contentSize) { payload.write(to: &$0) }
        #expect(throws: FieldReader.Unreadable()) {
            try writer.withContent { bytes throws(FieldReader.Unreadable) in
                _ = try EntryContent(parsing: bytes)
            }
        }
    }

    @Test("details are read back as they were, also if the vault refuses them")
    func details() throws {
        try roundTrip(EntryDetails())
        try roundTrip(
            EntryDetails(
                tags: ["", "a", "a"] + (0...VaultLimits.tags).map { "\($0)" },
                note: String(repeating: "n", count: VaultLimits.noteSize + 1),
                icon: String(repeating: "i", count: VaultLimits.iconSize + 1), isFavourite: true))
    }

    @Test("a text, a secret and a list are limited, whatever their length says")
    func limits() throws {
        let tooLong = [UInt8](repeating: 0x61, count: TransferLimits.string + 1)
        let writer = try FrameWriter()
        writer.append(string: tooLong.span)
        let bytes = writer.withContent { [UInt8](copying: $0) }
        #expect(throws: FieldReader.Unreadable()) { try String(parsing: bytes.span) }
        #expect(throws: FieldReader.Unreadable()) { try SecretBytes(parsing: bytes.span) }
        for count in [1, TransferLimits.elements + 1, Int(UInt32.max)] {
            let list = UInt32(count).littleEndianBytes.reversed() + [UInt8]()
            var fields = FieldReader(.bigEndian)
            #expect(throws: FieldReader.Unreadable()) {
                let _: [VaultPart] = try fields.values(list.span)
            }
        }
    }

    @Test("a listed vault is read back as it was")
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
        for entry in open.listedEntries() { try roundTrip(entry) }
        for slot in open.slots { try roundTrip(slot) }
        try roundTrip(
            SlotSummary(number: 3, method: .other("tpm2"), created: 0, publicKey: [1, 2]))
        for slot in try DeviceSlots.vault().unlock().slots { try roundTrip(slot) }
        try roundTrip(try open.check())
    }

    @Test("an opener is read back, and a recovery key of another length is refused")
    func openers() throws {
        let key = RecoveryKey.make()
        let slot = SlotSummary(
            number: 3, method: .tpm2(DeviceSlots.object()), created: 0, publicKey: [1, 2])
        let openers: [VaultOpener] = [
            .passphrase(secret("p")), .recoveryKey(key), .device(DeviceSlots.secret, of: slot),
        ]
        for opener in openers {
            let bytes = try encoded(opener)
            #expect(try encoded(VaultOpener(parsing: bytes.span)) == bytes)
            refusesOthers(VaultOpener.self, bytes)
        }
        let short = try encoded(secret("31 bytes, one fewer than enough"))
        #expect(short.count == 4 + 31)
        #expect(throws: FieldReader.Unreadable()) { try RecoveryKey(parsing: short.span) }
    }

    private func roundTrip<Value: Transferable & Equatable, Kind: RawRepresentable>(
        _ values: [Value], of kinds: [Kind]
    ) throws where Kind.RawValue == UInt8 {
        for value in values { try roundTrip(value) }
        // A case that is added is missing here.
        #expect(try Set(values.map { try encoded($0)[0] }) == Set(kinds.map(\.rawValue)))
    }

    private func roundTrip<Value: Transferable & Equatable>(_ value: Value) throws {
        let bytes = try encoded(value)
        #expect(try Value(parsing: bytes.span) == value)
        refusesOthers(Value.self, bytes)
    }

    private func encoded(_ value: some Transferable) throws -> [UInt8] {
        let writer = try FrameWriter()
        writer.append(value)
        return writer.withContent { [UInt8](copying: $0) }
    }

    /// Expects that the type refuses more or fewer bytes than one value.
    private func refusesOthers<Value: Transferable>(_ type: Value.Type, _ bytes: [UInt8]) {
        #expect(throws: FieldReader.Unreadable()) { _ = try Value(parsing: (bytes + [0]).span) }
        let step = max(bytes.count / 200, 1)
        for count in stride(from: 0, to: bytes.count, by: step) {
            let part = Array(bytes.prefix(count))
            #expect(throws: FieldReader.Unreadable()) { _ = try Value(parsing: part.span) }
        }
    }
}
