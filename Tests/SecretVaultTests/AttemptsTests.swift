import Testing

@testable import SecretVault

struct AttemptsTests {
    private static let vaultID = [UInt8](repeating: 7, count: 16)

    private static func id(_ byte: UInt8) -> RecordID {
        RecordID([UInt8](repeating: byte, count: 16).span)
    }

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
        attempts[subject] = .adding(to: attempts[subject], at: TestClock().reading)
    }

    @Test("five tries are admitted, each counted first; the sixth waits, and is then counted")
    func admission() throws {
        var clock = TestClock()
        var attempts = Attempts(of: Self.vaultID)
        for count: UInt64 in 1...5 {
            guard case .counted(let next) = attempts.admission(of: .vault, at: clock.reading) else {
                Issue.record("try \(count) is not admitted")
                return
            }
            #expect(next.vault?.count == count)
            attempts = next
        }
        #expect(attempts.admission(of: .vault, at: clock.reading) == .wait(60, attempts))
        clock.pass(59)
        #expect(attempts.admission(of: .vault, at: clock.reading) == .wait(1, attempts))
        clock.pass(1)
        guard case .counted(let next) = attempts.admission(of: .vault, at: clock.reading) else {
            Issue.record("the sixth try is not admitted")
            return
        }
        #expect(next.vault?.count == 6 && next.vault?.rest(at: clock.reading) == 300)
    }

    @Test("a wait that is found after a reboot is counted in the new boot from then on")
    func moved() {
        var clock = TestClock()
        let attempts = Self.counted(5, [:])
        clock.reboot(off: 20)
        guard case .wait(40, let moved) = attempts.admission(of: .vault, at: clock.reading) else {
            Issue.record("no wait of 40 seconds")
            return
        }
        clock.wall = 0
        clock.uptime += 39
        #expect(moved.admission(of: .vault, at: clock.reading) == .wait(1, moved))
    }

    @Test("a record waits by itself, and one that was sealed anew has no failures")
    func records() {
        let attempts = Self.counted(0, [1: 5])
        let now = TestClock().reading
        guard case .wait(60, _) = attempts.admission(of: .record(Self.id(1), revision: 3), at: now)
        else {
            Issue.record("the record does not wait")
            return
        }
        for other in [
            Attempts.Subject.vault, .record(Self.id(2), revision: 3),
            .record(Self.id(1), revision: 4),
        ] {
            guard case .counted(let next) = attempts.admission(of: other, at: now) else {
                Issue.record("another one waits, too")
                return
            }
            #expect(next[other]?.count == 1)
        }
    }

    @Test("a record is due when its failures and the vault's together reach what it says")
    func due() throws {
        let three = AccessControl.OnFailure.wipe(after: try #require(FailureCount(3)))
        let lines = [Self.line(1, three), Self.line(2, .lockOut), Self.line(3, three)]
        let cases: [(Int, [UInt8: Int], settled: Set<UInt8>, asked: Set<UInt8>)] = [
            (0, [:], [], []), (2, [:], [], []), (3, [:], [1, 3], [1, 3]),
            (9, [2: 9], [1, 3], [1, 3]), (0, [1: 2], [], []), (0, [1: 3], [1], []),
            (1, [1: 2], [1], []), (2, [1: 1, 3: 0], [1], []),
            (0, [2: 50], [], []), (3, [3: 1], [1, 3], [1, 3]),
        ]
        for (vault, records, settled, asked) in cases {
            let attempts = Self.counted(vault, records)
            #expect(attempts.due(in: lines, settled: true) == Set(settled.map(Self.id)))
            #expect(attempts.due(in: lines, settled: false) == Set(asked.map(Self.id)))
        }
    }

    @Test("what is counted against records that are gone or older is left out, and newer ones stay")
    func pruned() {
        var attempts = Self.counted(1, [1: 1, 2: 1])
        attempts[.record(Self.id(4), revision: 9)] = attempts.vault
        attempts[.record(Self.id(5), revision: 2)] = attempts.vault
        let pruned = attempts.pruned(to: [Self.line(1, .lockOut), Self.line(5, .lockOut)], of: 8)
        #expect(Set(pruned.records.keys) == [Self.id(1), Self.id(4)])
        #expect(pruned.vault == attempts.vault)
    }

    @Test("what is written is read again, and its text is the same")
    func roundTrip() throws {
        for attempts in [
            Attempts(of: Self.vaultID), Self.counted(1, [:]), Self.counted(0, [9: 1, 3: 12]),
            Self.counted(70, [255: 5, 0: 6, 128: 1]),
        ] {
            let text = try attempts.text()
            let read = try Attempts(reading: text)
            #expect(read == attempts)
            #expect(try read.text() == text)
        }
    }

    @Test("every cut, every flipped byte, and every other form is refused")
    func refused() throws {
        let text = try Self.counted(5, [1: 2, 2: 7]).text()
        for index in text.indices {
            #expect(throws: VaultError.self) { try Attempts(reading: Array(text[..<index])) }
            var flipped = text
            flipped[index] ^= 1
            #expect(throws: VaultError.self) { try Attempts(reading: flipped) }
        }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        let spoilings: [(inout [String]) -> Void] = [
            { $0[2] = $0[2].replacing(" 5 60 ", with: " 5 61 ") },
            { $0[2] = $0[2].replacing(" 5 60 ", with: " 0 0 ") },
            { $0[2] = $0[2].replacing(" 5 60 ", with: " 05 60 ") },
            { $0[2] += " " }, { $0.insert($0[2], at: 2) }, { $0.insert($0[3], at: 3) },
            { $0.swapAt(3, 4) }, { $0.swapAt(2, 3) }, { $0.remove(at: 1) },
            { $0[3] = $0[3].replacing(" 3 2 ", with: " 0 2 ") }, { $0.insert("more", at: 5) },
        ]
        for spoil in spoilings {
            var spoiled = lines
            spoil(&spoiled)
            #expect(spoiled != lines)
            #expect(throws: VaultError.self) { try Attempts(reading: try Self.ended(spoiled)) }
        }
        #expect(try Attempts(reading: try Self.ended(lines)) == Self.counted(5, [1: 2, 2: 7]))
        var newer = lines
        newer[0] = "watchword-attempts 2"
        #expect(throws: VaultError.newerVersion(2)) { try Attempts(reading: Self.ended(newer)) }
    }

    private static func ended(_ lines: [String]) throws -> [UInt8] {
        let body = Array((lines.dropLast().joined(separator: "\n") + "\n").utf8)
        return body + (try VaultEnvelope.lastLine(for: body[...]))
    }
}
