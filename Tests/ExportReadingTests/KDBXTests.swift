import Exports
import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// Files of which only the header matters: nothing here derives a key.
@Suite("KDBX headers")
struct KDBXTests {
    private static let aes: [UInt8] = [
        0x31, 0xC1, 0xF2, 0xE6, 0xBF, 0x71, 0x43, 0x50, 0xBE, 0x58, 0x05, 0x21, 0x6A, 0xFC, 0x5A,
        0xFF,
    ]
    private static let argon2d: [UInt8] = [
        0xEF, 0x63, 0x6D, 0xDF, 0x8C, 0x29, 0x44, 0x4B, 0x91, 0xF7, 0xA9, 0xA4, 0x03, 0xE3, 0x0A,
        0x0C,
    ]
    private static let aesKDF: [UInt8] = [
        0xC9, 0xD9, 0xF3, 0x9A, 0x62, 0x8A, 0x44, 0x60, 0xBF, 0x74, 0x0D, 0x08, 0xC1, 0x8A, 0x4F,
        0xEA,
    ]

    private func little(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }

    private func file(
        _ version: Int, cipher: [UInt8] = aes, compression: UInt64 = 1, _ more: [(UInt8, [UInt8])]
    ) -> SecretBytes {
        var header: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5, 1, 0]
        header += little(UInt64(version), 2)
        let zeros = [UInt8](repeating: 0, count: 32)
        let fields: [(UInt8, [UInt8])] =
            [(2, cipher), (3, little(compression, 4)), (4, zeros), (7, Array(zeros.prefix(16)))]
            + more + [(0, [13, 10, 13, 10])]
        for (number, value) in fields {
            header += [number] + little(UInt64(value.count), version == 4 ? 4 : 2) + value
        }
        guard version == 4 else { return SecretBytes(header + zeros) }
        // A right digest, a wrong code, and one empty block.
        return SecretBytes(header + sha256(header.span) + zeros + zeros + little(0, 4))
    }

    private func dictionary(_ values: [(String, UInt8, [UInt8])]) -> (UInt8, [UInt8]) {
        var bytes: [UInt8] = [0, 1]
        for (name, type, value) in values {
            bytes += [type] + little(UInt64(name.utf8.count), 4) + Array(name.utf8)
            bytes += little(UInt64(value.count), 4) + value
        }
        return (11, bytes + [0])
    }

    private func argon2(
        memory: UInt64 = 8192, passes: UInt64 = 1, lanes: UInt64 = 1, version: UInt64 = 0x13
    ) -> (UInt8, [UInt8]) {
        dictionary([
            ("$UUID", 0x42, Self.argon2d), ("S", 0x42, [UInt8](repeating: 1, count: 32)),
            ("I", 0x05, little(passes, 8)), ("M", 0x05, little(memory, 8)),
            ("P", 0x04, little(lanes, 4)), ("V", 0x04, little(version, 4)),
        ])
    }

    private func version3(rounds: UInt64) -> [(UInt8, [UInt8])] {
        let zeros = [UInt8](repeating: 0, count: 32)
        return [
            (5, zeros), (6, little(rounds, 8)), (8, zeros), (9, zeros), (10, little(2, 4)),
        ]
    }

    @Test("2^40 rounds and other excessive costs are refused at once")
    func costs() throws {
        func over(_ limit: ExportLimit, _ found: UInt64, _ allowed: UInt64) -> ExportError {
            .overLimit(.keePass, limit, found: found, allowed: allowed)
        }
        let rounds = UInt64(1) << 40
        let parameters = dictionary([
            ("$UUID", 0x42, Self.aesKDF), ("S", 0x42, [UInt8](repeating: 1, count: 32)),
            ("R", 0x05, little(rounds, 8)),
        ])
        for (file, error) in [
            (file(3, version3(rounds: rounds)), over(.iterations, rounds, 1 << 28)),
            (file(4, [parameters]), over(.iterations, rounds, 1 << 28)),
            (file(4, [argon2(memory: 1 << 40)]), over(.memory, 1 << 40, 1 << 30)),
            (file(4, [argon2(passes: 1001)]), over(.iterations, 1001, 1000)),
            (file(4, [argon2(memory: 1 << 20, lanes: 65)]), over(.parallelism, 65, 64)),
            // The nearest accepted files, for which the password is wrong.
            (file(4, [argon2()]), .wrongPassword(.keePass)),
            (file(3, version3(rounds: 1)), .wrongPassword(.keePass)),
        ] {
            #expect(throws: error) { try read(file, "pw") }
        }
    }

    @Test("unknown algorithms and versions are refused, and named")
    func unsupported() throws {
        let unsupported = ExportError.unreadable(.keePass, .unsupportedAlgorithm)
        for (file, error) in [
            (file(4, [argon2(version: 0x11)]), unsupported),
            (file(4, compression: 2, [argon2()]), unsupported),
            (file(4, cipher: [UInt8](repeating: 1, count: 16), [argon2()]), unsupported),
            (file(4, [dictionary([("$UUID", 0x42, Self.aes)])]), unsupported),
            (file(5, []), .newerVersion(.keePass)),
            (
                SecretBytes([0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5]),
                .unreadable(.keePass, .keePass1)
            ),
        ] {
            #expect(throws: error) { try read(file, "pw") }
        }
    }

    @Test("a changed header is refused before the key is derived")
    func changedHeader() throws {
        let whole = file(4, [argon2()])
        for index in 12..<whole.count - 100 where index % 7 == 0 {
            var changed = whole.known
            changed[index] ^= 1
            let error = #expect(throws: ExportError.self) { try read(changed, "pw") }
            #expect(error != .wrongPassword(.keePass))
        }
    }

    @Test("a truncated file is refused before the key is derived")
    func truncated() throws {
        let whole = file(4, [argon2()])
        for count in 8..<whole.count {
            #expect(throws: ExportError.damaged(.keePass)) {
                try read(whole.part(0..<count), "pw")
            }
        }
    }
}
