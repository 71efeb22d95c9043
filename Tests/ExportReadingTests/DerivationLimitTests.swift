@testable import ExportReading
import Exports
import Foundation
import TestSupport
import Testing
import WatchwordCryptography

/// A file with an excessive cost is refused before the cost is spent: none of these takes time.
@Suite("Limits of key derivations")
struct DerivationLimitTests {
    private let password = SecretBytes(text: "pw")
    private let salt = SecretBytes(text: "sixteen bytes ab")
    private let decryption = Decryption(.aegis)

    @Test("PBKDF2 has at most ten million iterations, and at least one")
    func pbkdf2() throws {
        func derive(_ iterations: UInt64) throws -> Int {
            try decryption.pbkdf2(.sha1, password, salt: salt, iterations: iterations).count
        }
        #expect(throws: over(.iterations, 10_000_001, 10_000_000)) { try derive(10_000_001) }
        #expect(throws: over(.iterations, .max, 10_000_000)) { try derive(.max) }
        #expect(throws: ExportError.damaged(.aegis)) { try derive(0) }
        #expect(try derive(1) == 32)
    }

    @Test("scrypt's parameters and their products are limited")
    func scrypt() throws {
        func cost(_ n: UInt64, _ r: UInt64, _ p: UInt64, _ derivations: Int = 1) throws {
            _ = try decryption.scryptCost(n: n, r: r, p: p, derivations: derivations)
        }
        try cost(2, 1, 1)
        try cost(1 << 20, 8, 4)
        try cost(1 << 18, 32, 4)
        #expect(throws: over(.memory, 2 << 30, 1 << 30)) { try cost(1 << 21, 8, 1) }
        #expect(throws: over(.memory, .max, 1 << 30)) { try cost(1 << 63, 8, 1) }
        #expect(throws: over(.blockSize, 33, 32)) { try cost(1 << 10, 33, 1) }
        #expect(throws: over(.parallelism, 17, 16)) { try cost(1 << 10, 8, 17) }
        #expect(throws: over(.memory, 2 << 30, 1 << 30)) { try cost(1 << 20, 16, 1) }
        #expect(throws: over(.parallelism, 5, 4)) { try cost(1 << 20, 8, 5) }
        // A file with many password slots costs as much with a wrong password.
        try cost(1 << 15, 8, 1, 128)
        #expect(throws: over(.parallelism, 129, 128)) { try cost(1 << 15, 8, 1, 129) }
        for (n, r, p) in [
            (0, 8, 1), (1, 8, 1), (3, 8, 1), (8, 0, 1), (8, 8, 0), (1 << 16, 1, 1),
        ] as [(UInt64, UInt64, UInt64)] {
            #expect(throws: ExportError.damaged(.aegis)) { try cost(n, r, p) }
        }
    }

    @Test("Argon2's parameters and the product of memory and passes are limited")
    func argon2() throws {
        func derive(_ kibibytes: UInt64, _ passes: UInt64, _ lanes: UInt64) throws -> Int {
            let argon2 = Argon2(.id, kibibytes: kibibytes, passes: passes, lanes: lanes)
            return try decryption.derive(argon2, password, salt: salt).count
        }
        #expect(try derive(8, 1, 1) == 32)
        for (kibibytes, passes, lanes, error) in [
            ((1 << 20) + 1, 1, 1, over(.memory, (1 << 30) + 1024, 1 << 30)),
            (.max, 1, 1, over(.memory, .max, 1 << 30)), (1 << 20, 17, 1, over(.iterations, 17, 16)),
            (8, 1001, 1, over(.iterations, 1001, 1000)),
            (1 << 10, 1, 65, over(.parallelism, 65, 64)), (7, 1, 1, .damaged(.aegis)),
            (15, 1, 2, .damaged(.aegis)), (8, 0, 1, .damaged(.aegis)), (8, 1, 0, .damaged(.aegis)),
        ] as [(UInt64, UInt64, UInt64, ExportError)] {
            #expect(throws: error) { try derive(kibibytes, passes, lanes) }
        }
        #expect(throws: ExportError.damaged(.aegis)) {
            _ = try decryption.derive(
                Argon2(.id, kibibytes: 8, passes: 1, lanes: 1), password,
                salt: SecretBytes(text: "seven b"))
        }
    }

    @Test("an error states whether the raised limits would accept the cost")
    func raised() throws {
        func error(
            _ limits: ExportLimits, _ body: () throws(ExportError) -> Void
        ) -> ExportError? {
            ExportLimits.$current.withValue(limits) {
                do throws(ExportError) { try body() } catch { return error }
                return nil
            }
        }
        for (n, r, p, derivations) in [
            (1 << 21, 8, 1, 1), (1 << 22, 8, 1, 1), (1 << 23, 8, 1, 1), (1 << 20, 16, 1, 1),
            (1 << 20, 32, 1, 1), (1 << 21, 32, 1, 1), (1 << 20, 8, 5, 1), (1 << 20, 8, 8, 9),
            (1 << 10, 33, 1, 1), (1 << 10, 8, 17, 1), (1 << 15, 8, 1, 129), (1 << 15, 8, 1, 2049),
        ] as [(UInt64, UInt64, UInt64, Int)] {
            func cost() throws(ExportError) {
                _ = try decryption.scryptCost(n: n, r: r, p: p, derivations: derivations)
            }
            let standard = try #require(error(.standard, cost))
            #expect(
                standard.isWithinRaisedLimits == (error(.raised, cost) == nil), "\(n) \(r) \(p)")
        }
        // Argon2 checks its costs in this order: lanes, passes, memory, work.
        for (limit, found, allowed, isRaised) in [
            (.parallelism, 65, 64, false), (.iterations, 1001, 1000, false),
            (.memory, 4 << 30, 1 << 30, true), (.memory, 4 << 30 + 1, 1 << 30, false),
            (.iterations, 256, 16, true), (.iterations, 257, 16, false),
            (.iterations, 999, 500, true),
        ] as [(ExportLimit, UInt64, UInt64, Bool)] {
            #expect(over(limit, found, allowed).isWithinRaisedLimits == isRaised)
        }
    }

    @Test("the cost of an Aegis file is the sum over all its password slots")
    func slots() throws {
        // Each slot costs 1 MiB.
        var limits = ExportLimits.standard
        limits.scryptWork = 3 << 20
        let seal =
            #"{"nonce":"\#(String(repeating: "00", count: 12))","#
            + #""tag":"\#(String(repeating: "00", count: 16))"}"#
        let key = String(repeating: "00", count: 32)
        func read(slotCount: Int) throws {
            let slot =
                #"{"type":1,"uuid":"","key":"\#(key)","n":1024,"r":8,"p":1,"salt":"00","#
                + #""key_params":\#(seal)}"#
            let slots = Array(repeating: slot, count: slotCount).joined(separator: ",")
            let text =
                #"{"version":1,"header":{"slots":[\#(slots)],"params":\#(seal)},"db":"AAAA"}"#
            _ = try readExport(
                ExportSource(SecretBytes(text: text)), password: password, limits: limits)
        }
        #expect(throws: ExportError.wrongPassword(.aegis)) { try read(slotCount: 3) }
        #expect(throws: over(.parallelism, 4, 3)) { try read(slotCount: 4) }
    }

    @Test("files with excessive costs are refused at once")
    func files() throws {
        let zeros = String(repeating: "00", count: 32)
        let aegis = """
            {"version":1,"header":{"slots":[{"type":1,"uuid":"","key":"\(zeros)","n":2097152,"r":8,
            "p":1,"salt":"00","key_params":{"nonce":"000000000000000000000000",
            "tag":"00000000000000000000000000000000"}}],"params":{"nonce":"000000000000000000000000",
            "tag":"00000000000000000000000000000000"}},"db":"AAAA"}
            """
        #expect(throws: over(.memory, 2 << 30, 1 << 30)) { try read(aegis, "pw") }
        let ente = """
            {"version":1,"kdfParams":{"memLimit":1099511627776,"opsLimit":1,
            "salt":"r+FS3FugGxRLLQvk/wpJww=="},"encryptedData":"eXCOWTq2sgWDKDOZwQUbSX2pUIQ8",
            "encryptionNonce":"VOUAmSX6BO2zrFYDhsBs/FpVm3ncaeDq"}
            """
        #expect(throws: ExportError.overLimit(.ente, .memory, found: 1 << 40, allowed: 1 << 30)) {
            try read(ente, "pw")
        }
        let text = "2.AAAAAAAAAAAAAAAAAAAAAA==|AAAA|AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let bitwarden = """
            {"encrypted":true,"passwordProtected":true,"salt":"a","kdfType":1,"kdfIterations":3,
            "kdfMemory":18014398509481984,"kdfParallelism":4,
            "encKeyValidation_DO_NOT_EDIT":"\(text)","data":"\(text)"}
            """
        #expect(throws: ExportError.overLimit(.bitwarden, .memory, found: .max, allowed: 1 << 30)) {
            try read(bitwarden, "pw")
        }
    }

    private func over(_ limit: ExportLimit, _ found: UInt64, _ allowed: UInt64) -> ExportError {
        .overLimit(.aegis, limit, found: found, allowed: allowed)
    }
}
