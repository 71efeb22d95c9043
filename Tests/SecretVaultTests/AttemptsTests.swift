import Testing

@testable import SecretVault

struct AttemptsTests {
    private static let vaultID = [UInt8](repeating: 7, count: 16)

    private static func id(_ byte: UInt8) -> RecordID {
        RecordID([UInt8](repeating: byte, count: 16).span)
    }

    private static let slots = SlotsDigest([UInt8](repeating: 5, count: 32))

    private static func line(_ byte: UInt8, _ onFailure: AccessControl.OnFailure) -> RecordLine {
        RecordLine(
            id: id(byte), revision: 3,
            accessControl: AccessControl(presence: .perUse(.any), onFailure: onFailure))
    }

    private static func counted(_ vault: Int, _ records: [UInt8: Int]) -> Attempts {
        var attempts = Attempts(of: vaultID)
        for _ in 0..<vault { add(.vault, to: &attempts) }
        for (byte, count) in records {
            for _ in 0..<count { add(.record(id(byte), revision: 3), to: &attempts) }
        }
        return attempts
    }

    private static func add(_ subject: Attempts.Subject, to attempts: inout Attempts) {
        attempts.addRefusal(of: subject, by: slots, at: TestClock().reading)
    }

    @Test("attempts are admitted and counted in advance until the next attempt must wait")
    func admission() throws {
        var clock = TestClock()
        var attempts = Attempts(of: Self.vaultID)
        let first = LockOutPolicy.firstFailureWithWait
        let wait = LockOutPolicy.wait(after: first)
        for count in 1...first {
            guard case .begun(let next) = attempts.admission(of: .vault, at: clock.reading) else {
                Issue.record("attempt \(count) was not admitted")
                return
            }
            #expect(next.vault?.count == count && next.vault?.undecided == count)
            attempts = next
        }
        #expect(attempts.admission(of: .vault, at: clock.reading) == .wait(wait, attempts))
        clock.pass(LockOutPolicy.firstWait - 1)
        #expect(attempts.admission(of: .vault, at: clock.reading) == .wait(1, attempts))
        clock.pass(1)
        guard case .begun(let next) = attempts.admission(of: .vault, at: clock.reading) else {
            Issue.record("the attempt after the wait was not admitted")
            return
        }
        #expect(next.vault?.count == first + 1)
        #expect(next.vault?.rest(at: clock.reading) == LockOutPolicy.wait(after: first + 1))
    }

    @Test("a wait that began before a reboot continues on the new boot's clock")
    func moved() {
        var clock = TestClock()
        let attempts = Self.counted(LockOutPolicy.failuresUntilWait, [:])
        clock.reboot(off: 20)
        guard case .wait(let rest, let moved) = attempts.admission(of: .vault, at: clock.reading)
        else {
            Issue.record("the attempt was admitted")
            return
        }
        #expect(rest == UInt64(LockOutPolicy.firstWait - 20))
        clock.wall = 0
        clock.uptime += Int64(rest) - 1
        #expect(moved.admission(of: .vault, at: clock.reading) == .wait(1, moved))
    }

    @Test("a lock-out affects one record, and a resealed record has no failures")
    func records() {
        let attempts = Self.counted(0, [1: LockOutPolicy.failuresUntilWait])
        let now = TestClock().reading
        guard case .wait = attempts.admission(of: .record(Self.id(1), revision: 3), at: now)
        else {
            Issue.record("the record is not locked out")
            return
        }
        for other in [
            Attempts.Subject.vault, .record(Self.id(2), revision: 3),
            .record(Self.id(1), revision: 4),
        ] {
            guard case .begun(let next) = attempts.admission(of: other, at: now) else {
                Issue.record("another subject is also locked out")
                return
            }
            #expect(next[other]?.count == 1)
        }
    }

    @Test("a record is due to be wiped when its failures and the vault's together reach its limit")
    func due() throws {
        let three = AccessControl.OnFailure.wipe(after: try #require(FailureCount(3)))
        let lines = [Self.line(1, three), Self.line(2, .lockOut), Self.line(3, three)]
        let cases: [(Int, [UInt8: Int], due: Set<UInt8>)] = [
            (0, [:], []), (2, [:], []), (3, [:], [1, 3]), (9, [2: 9], [1, 3]), (0, [1: 2], []),
            (0, [1: 3], [1]), (1, [1: 2], [1]), (2, [1: 1, 3: 0], [1]), (0, [2: 50], []),
            (3, [3: 1], [1, 3]),
        ]
        for (vault, records, due) in cases {
            let attempts = Self.counted(vault, records)
            #expect(attempts.due(in: lines, by: Self.slots) == Set(due.map(Self.id)))
        }
    }

    @Test("O-11 refusals by other slots count towards waits, but never towards a wipe")
    func otherSlots() throws {
        let line = Self.line(1, .wipe(after: try #require(FailureCount(3))))
        let now = TestClock().reading
        func slots(_ byte: UInt8) -> SlotsDigest {
            SlotsDigest([UInt8](repeating: byte, count: 32))
        }
        var attempts = Attempts(of: Self.vaultID)
        for byte: UInt8 in [1, 2, 1, 2, 2] {
            attempts.addRefusal(of: .vault, by: slots(byte), at: now)
        }
        #expect(attempts.vault?.refused == 5)
        #expect(attempts.due(in: [line], by: slots(1)).isEmpty)
        #expect(attempts.due(in: [line], by: slots(2)) == [line.id])
        #expect(attempts.due(in: [line], by: slots(3)).isEmpty)
        attempts.addRefusal(of: .vault, by: slots(1), at: now)
        #expect(attempts.due(in: [line], by: slots(1)) == [line.id])
        // Refusals by slot sets after the first four cause only waits.
        for byte: UInt8 in [3, 4, 5, 5, 5] {
            attempts.addRefusal(of: .vault, by: slots(byte), at: now)
        }
        #expect(attempts.due(in: [line], by: slots(5)).isEmpty)
        let vault = try #require(attempts.vault)
        #expect(vault.refused == 11 && vault.wait > 0)
        #expect(vault.wait == LockOutPolicy.wait(after: 11))
        #expect(attempts.refusals.count == Attempts.maximumRefuserCount)
        #expect(try Attempts.read(attempts.text(sequence: 1)).0 == attempts)
        #expect(attempts.deciding(.vault, .opened, at: now).isEmpty)
        #expect(attempts.deciding(.vault, .opened, at: now).refusals.isEmpty)
    }

    @Test("O-11 undecided attempts never cause a wipe, however many there are")
    func undecided() throws {
        let line = Self.line(1, .wipe(after: try #require(FailureCount(1))))
        let now = TestClock().reading
        var attempts = Attempts(of: Self.vaultID)
        for _ in 0..<50 {
            attempts.vault = .beginning(after: attempts.vault, at: now)
            attempts[line.subject] = .beginning(after: attempts[line.subject], at: now)
        }
        #expect(attempts.due(in: [line], by: Self.slots) == [])
        #expect(attempts.mayBecomeDue(line, by: Self.slots))
        attempts = attempts.deciding(line.subject, .refused(by: Self.slots), at: now)
        #expect(attempts.due(in: [line], by: Self.slots) == [line.id])
    }

    @Test("one slot has room for ninety records of maximum length; older records take precedence")
    func full() throws {
        let longest = Failures(
            refused: VaultLimits.number, undecided: VaultLimits.number, wait: 3600,
            start: ClockReading(
                seen: VaultLimits.number, boot: TestClock().reading.boot,
                uptime: VaultLimits.number))
        var attempts = Attempts(of: Self.vaultID)
        // The maximum number of slot sets, with the longest counts that fit together.
        let most = UInt64(Attempts.maximumRefuserCount)
        var refusals: [SlotsDigest: UInt64] = [:]
        for byte in 0..<most {
            let slots = SlotsDigest([UInt8](repeating: UInt8(byte), count: 32))
            refusals[slots] = VaultLimits.number / most
        }
        attempts = Attempts(of: Self.vaultID, vault: longest, refusals: refusals, records: [:])
        for byte in 0..<UInt8(Attempts.maximumRecordCount) {
            attempts[.record(Self.id(byte), revision: VaultLimits.generation)] = longest
        }
        let text = attempts.text(sequence: VaultLimits.number)
        #expect(text.count <= AttemptsFile.slotCount)
        #expect(try Attempts.read(text).0 == attempts)
        var clock = TestClock()
        clock.wall = .max
        let newest = Attempts.Subject.record(Self.id(200), revision: VaultLimits.generation)
        #expect(attempts.admission(of: newest, at: clock.reading) == .full)
        let last = Self.id(UInt8(Attempts.maximumRecordCount - 1))
        let older = Attempts.Subject.record(Self.id(201), revision: 1)
        guard case .begun(let next) = attempts.admission(of: older, at: clock.reading) else {
            Issue.record("an older record was not admitted")
            return
        }
        #expect(Set(attempts.records.keys).subtracting(next.records.keys) == [last])
        #expect(next.records.count == Attempts.maximumRecordCount && next[older]?.count == 1)
        // The record that was dropped to make room is not counted.
        let dropped = Attempts.Subject.record(last, revision: VaultLimits.generation)
        #expect(next.admission(of: dropped, at: clock.reading) == .full)
        attempts[.record(Self.id(0), revision: VaultLimits.generation)] = nil
        guard case .begun(let next) = attempts.admission(of: newest, at: clock.reading) else {
            Issue.record("one more record was not admitted")
            return
        }
        #expect(next.records.count == Attempts.maximumRecordCount)
    }

    @Test("counts of removed and older records are dropped, and newer ones are kept")
    func pruned() {
        var attempts = Self.counted(1, [1: 1, 2: 1])
        attempts[.record(Self.id(4), revision: 9)] = attempts.vault
        attempts[.record(Self.id(5), revision: 2)] = attempts.vault
        let pruned = attempts.pruned(to: [Self.line(1, .lockOut), Self.line(5, .lockOut)], of: 8)
        #expect(Set(pruned.records.keys) == [Self.id(1), Self.id(4)])
        #expect(pruned.vault == attempts.vault)
    }

    @Test("attempts are read back as they were written, and bytes after them are ignored")
    func roundTrip() throws {
        for attempts in [
            Attempts(of: Self.vaultID), Self.counted(1, [:]), Self.counted(0, [9: 1, 3: 12]),
            Self.counted(70, [255: 5, 0: 6, 128: 1]),
        ] {
            let text = attempts.text(sequence: 7)
            let read = try Attempts.read(text)
            #expect(read.0 == attempts && read.sequence == 7)
            #expect(try Attempts.read(text + [0, 0, 1]).0 == attempts)
        }
    }

    /// Failures with values that any release may have recorded.
    private static func recorded(
        _ refused: UInt64, undecided: UInt64 = 0, wait: UInt64
    ) -> Failures {
        Failures(
            refused: refused, undecided: undecided, wait: wait, start: TestClock().reading)
    }

    /// The limits of version 1, which do not depend on the policy.
    private static let longestStoredWaits: [(count: UInt64, wait: UInt64)] = [
        (1, 0), (4, 0), (5, 60), (6, 300), (7, 900), (8, 1800), (9, 3600), (10, 3600),
        (1 << 62, 3600),
    ]

    @Test(
        "a recorded wait applies under any policy; one over the format's limit counts as damage",
        arguments: longestStoredWaits)
    func recordedWaits(count: UInt64, longest: UInt64) throws {
        func read(_ vault: Failures) throws -> Attempts {
            let attempts = Attempts(of: Self.vaultID, vault: vault, records: [:])
            let bytes = AttemptsFile.holding(attempts)
            return try AttemptsFile(reading: bytes, of: Self.vaultID).attempts
        }
        for wait in Set([longest, longest / 2, 0]) {
            let failures = Self.recorded(count - 1, undecided: 1, wait: wait)
            let attempts = try read(failures)
            #expect(attempts.vault == failures)
            var clock = TestClock()
            if wait > 0 {
                #expect(attempts.admission(of: .vault, at: clock.reading) == .wait(wait, attempts))
            }
            clock.pass(Int64(wait))
            guard case .begun(let next) = attempts.admission(of: .vault, at: clock.reading) else {
                Issue.record("an attempt after the wait was not admitted")
                return
            }
            // The policy decides what the next attempt costs.
            #expect(next.vault?.wait == LockOutPolicy.wait(after: count + 1))
        }
        let damaged = Self.recorded(count - 1, undecided: 1, wait: longest + 1)
        #expect(try read(damaged).isEmpty)
    }

    @Test("the format permits every wait of the policy", arguments: 1...12)
    func grantedWaits(count: Int) throws {
        let attempts = Self.counted(count, [1: count])
        let bytes = AttemptsFile.holding(attempts)
        #expect(try AttemptsFile(reading: bytes, of: Self.vaultID).attempts == attempts)
    }

    @Test("every truncation, every flipped byte and every invalid form is refused")
    func refused() throws {
        let records: [UInt8: Failures] = [
            1: Self.recorded(2, wait: 0), 2: Self.recorded(7, wait: 900),
        ]
        let attempts = Attempts(
            of: Self.vaultID, vault: Self.recorded(5, wait: 60), refusals: [Self.slots: 5],
            records: Dictionary(
                uniqueKeysWithValues: records.map {
                    (Self.id($0), .init(revision: 3, failures: $1))
                }))
        let text = attempts.text(sequence: 3)
        for index in text.indices {
            #expect(throws: VaultError.self) { try Attempts.read(Array(text[..<index])) }
            var flipped = text
            flipped[index] ^= 1
            #expect(throws: VaultError.self) { try Attempts.read(flipped) }
        }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        let spoilings: [(inout [String]) -> Void] = [
            { $0[3] = $0[3].replacing(" 5 0 60 ", with: " 5 0 61 ") },
            { $0[3] = $0[3].replacing(" 5 0 60 ", with: " 4 0 60 ") },
            { $0[3] = $0[3].replacing(" 5 0 60 ", with: " 4 1 60 ") },
            { $0[3] = $0[3].replacing(" 5 0 60 ", with: " 0 0 0 ") },
            { $0[3] = $0[3].replacing(" 5 0 60 ", with: " 05 0 60 ") },
            { $0[2] = "sequence 0" }, { $0[2] = "sequence 9223372036854775808" },
            { $0.remove(at: 2) },
            { $0[3] += " " }, { $0.insert($0[3], at: 3) }, { $0.insert($0[5], at: 5) },
            { $0.swapAt(5, 6) }, { $0.swapAt(3, 4) }, { $0.swapAt(4, 5) }, { $0.remove(at: 1) },
            { $0[4] += "0" }, { $0[4] = $0[4].replacing(" 5", with: " 0") },
            { $0[4] = $0[4].replacing(" 5", with: " 6") },
            {
                $0[4] = $0[4].replacing(" 5", with: " 1"); $0.insert($0[4], at: 4)
            },
            { $0.remove(at: 3) },
            { $0[5] = $0[5].replacing(" 3 2 0 ", with: " 0 2 0 ") }, { $0.insert("more", at: 7) },
        ]
        for spoil in spoilings {
            var spoiled = lines
            spoil(&spoiled)
            #expect(spoiled != lines)
            #expect(throws: VaultError.self) { try Attempts.read(Self.ended(spoiled)) }
        }
        #expect(try Attempts.read(Self.ended(lines)).0 == attempts)
        var newer = lines
        newer[0] = "watchword-attempts 2"
        #expect(throws: VaultError.newerVersion(2)) { try Attempts.read(Self.ended(newer)) }
    }

    @Test(
        "the newer complete slot is valid, the other is written next, and a torn write is harmless"
    )
    func slots() throws {
        let (none, one, two) = (
            Attempts(of: Self.vaultID), Self.counted(1, [:]), Self.counted(2, [1: 1])
        )
        var bytes = AttemptsFile.holding(none)
        #expect(bytes.count == 2 * AttemptsFile.slotCount)
        var current = none
        var offsets: [Int] = []
        for next in [one, two, none, two, one] {
            let file = try AttemptsFile(reading: bytes, of: Self.vaultID)
            #expect(file.isWhole && file.attempts == current)
            let change = file.writing(next)
            offsets.append(change.offset)
            #expect(change.bytes.count % 4096 == 0)
            // Wherever the write is interrupted, the valid slot holds the previous count or the new
            // one.
            let whole = next.text(sequence: 9).count
            for count in stride(from: 0, to: change.bytes.count, by: 97) {
                var torn = bytes
                torn.replaceSubrange(
                    change.offset..<change.offset + count, with: change.bytes.prefix(count))
                let read = try AttemptsFile(reading: torn, of: Self.vaultID)
                #expect(read.isWhole)
                #expect(read.attempts == (count < whole ? current : next))
            }
            bytes.replaceSubrange(
                change.offset..<change.offset + change.bytes.count, with: change.bytes)
            current = next
        }
        #expect(offsets == [0, 1, 0, 1, 0].map { $0 * AttemptsFile.slotCount })
    }

    @Test("another vault's slots, damaged slots and a file of the wrong size are ignored")
    func spoiledSlots() throws {
        let bytes = AttemptsFile.holding(Self.counted(3, [:]))
        let other = try AttemptsFile(reading: bytes, of: [UInt8](repeating: 8, count: 16))
        #expect(other.attempts.isEmpty && !other.isWhole)
        var spoiled = bytes
        for slot in 0..<2 { spoiled[slot * AttemptsFile.slotCount + 60] ^= 1 }
        let read = try AttemptsFile(reading: spoiled, of: Self.vaultID)
        #expect(read.attempts.isEmpty && !read.isWhole)
        #expect(try !AttemptsFile(reading: bytes.dropLast(), of: Self.vaultID).isWhole)
        var newer = bytes
        newer[19] = UInt8(ascii: "2")
        #expect(throws: VaultError.newerAttempts(2)) {
            try AttemptsFile(reading: newer, of: Self.vaultID)
        }
    }

    private static func ended(_ lines: [String]) -> [UInt8] {
        let body = Array((lines.dropLast().joined(separator: "\n") + "\n").utf8)
        return body + VaultEnvelope.lastLine(for: body[...])
    }
}
