import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

/// A Protocol Buffers message, encoded by hand.
struct Message {
    private(set) var bytes: [UInt8] = []

    static func varint(_ value: UInt64) -> [UInt8] {
        var left = value
        var bytes: [UInt8] = []
        while left >= 0x80 {
            bytes.append(UInt8(left & 0x7f) | 0x80)
            left >>= 7
        }
        return bytes + [UInt8(left)]
    }

    func number(_ field: Int, _ value: UInt64) -> Message {
        raw(Self.varint(UInt64(field) << 3) + Self.varint(value))
    }

    func bytes(_ field: Int, _ value: [UInt8]) -> Message {
        raw(Self.varint(UInt64(field) << 3 | 2) + Self.varint(UInt64(value.count)) + value)
    }

    func text(_ field: Int, _ value: String) -> Message { bytes(field, Array(value.utf8)) }

    func raw(_ more: [UInt8]) -> Message {
        var message = self
        message.bytes += more
        return message
    }

    /// An entry as Google Authenticator writes it.
    static let entry = Message().text(1, "12345678901234567890").text(2, "A:b").text(3, "A")
        .number(4, 1).number(5, 1).number(6, 2)

    /// An entry with a time step and six digits.
    static func entry(_ name: String, issuer: String? = nil) -> Message {
        let named = Message().text(1, "k").text(2, name)
        return (issuer.map { named.text(3, $0) } ?? named).number(4, 1).number(5, 1).number(6, 2)
    }

    /// A payload with one entry.
    static func payload(_ entry: Message = entry) -> Message {
        Message().bytes(1, entry.bytes).number(2, 1).number(3, 1).number(4, 0).number(5, 7)
    }
}

extension MigrationBatch {
    init(_ text: String) throws(MigrationError) {
        let bytes = Array(text.utf8)
        try self.init(parsing: bytes.span)
    }

    init(_ message: Message) throws(MigrationError) {
        let base64 = String(decoding: Base64.encode(message.bytes.span), as: UTF8.self)
        try self.init("otpauth-migration://offline?data=\(base64)")
    }
}

@Suite("Google's exports")
struct MigrationTests {
    @Test("a single part is read")
    func single() throws {
        let batch = try MigrationBatch(Message.payload())
        let credential = try #require(batch.credentials.first)
        #expect(batch.credentials.count == 1)
        #expect((batch.version, batch.size, batch.index, batch.id) == (1, 1, 0, 7))
        #expect(batch.refusals.isEmpty && batch.warnings.isEmpty)
        #expect((credential.issuer, credential.account) == ("A", "b"))
        #expect(credential.key.text == "12345678901234567890")
        #expect(credential.algorithm == .sha1)
        #expect(credential.style == .decimal(.six))
        #expect(credential.movingFactor == .time(.standard))
    }

    @Test("a prefix is removed from a name only if it equals the issuer")
    func names() throws {
        for (name, issuer, account) in [
            ("A:b", "A", "b"), ("A:b:c", "A", "b:c"), ("C:b", "A", "C:b"), ("A:b", "", "A:b"),
            ("AA:b", "A", "AA:b"), ("b", "A", "b"), ("", "A", ""),
        ] {
            let batch = try MigrationBatch(.payload(.entry(name, issuer: issuer)))
            #expect(batch.warnings.isEmpty)
            #expect(batch.credentials.map(\.issuer) == [issuer])
            #expect(batch.credentials.map(\.account) == [account])
        }
    }

    @Test("a negative identifier is read, and the identifier of an export of version 2 is 0")
    func numbers() throws {
        let negative = UInt64(bitPattern: Int64(-1_320_898_453))
        let first = Message().bytes(1, Message.entry.bytes).number(2, 1).number(3, 1)
        #expect(try MigrationBatch(first.number(5, negative)).id == -1_320_898_453)
        let second = Message().bytes(1, Message.entry.text(8, "0123").bytes).number(2, 2)
            .number(3, 1)
        let batch = try MigrationBatch(second)
        #expect((batch.version, batch.id) == (2, 0))
        #expect(batch.warnings.isEmpty)
    }

    @Test(
        "each deviation from the format is accepted and reported",
        arguments: [
            (Message.payload().number(9, 1), MigrationWarning.unknownField(entry: nil, field: 9)),
            (Message().bytes(1, Message.entry.bytes), .missingSize),
            (.payload(.entry.number(99, 1)), .unknownField(entry: 0, field: 99)),
            (
                .payload(Message().text(1, "k").text(2, "b").number(5, 1).number(6, 2)),
                .missingAlgorithm(entry: 0)
            ),
            (
                .payload(Message().text(1, "k").text(2, "b").number(4, 1).number(6, 2)),
                .missingDigits(entry: 0)
            ),
            (
                .payload(Message().text(1, "k").text(2, "b").number(4, 1).number(5, 1)),
                .missingType(entry: 0)
            ),
            (
                .payload(
                    Message().text(1, "k").bytes(2, [0xe9]).number(4, 1).number(5, 1).number(6, 2)),
                .readAsLatin1(entry: 0)
            ),
            (.payload(.entry("A: b", issuer: "A")), .spacesAround(entry: 0)),
            (.payload(.entry("b", issuer: "\u{3000}A\u{A0}")), .spacesAround(entry: 0)),
        ])
    func warnings(message: Message, warning: MigrationWarning) throws {
        let batch = try MigrationBatch(message)
        #expect(batch.credentials.count == 1)
        #expect(batch.warnings == [warning])
    }

    @Test(
        "an entry that cannot be imported is refused without affecting the other entries",
        arguments: [
            (Message().text(2, "b").number(6, 2), MigrationRefusal.Reason.missingKey),
            (Message().text(1, "").number(6, 2), .missingKey),
            (Message().text(1, "k").number(4, 4).number(6, 2), .unknownAlgorithm),
            (Message().text(1, "k").number(4, .max).number(6, 2), .unknownAlgorithm),
            (Message().text(1, "k").number(4, 1).number(5, 3).number(6, 2), .unknownDigits),
            (Message().text(1, "k").number(4, 1).number(5, 1).number(6, 3), .unknownType),
            (.entry(String(repeating: "a", count: 22_000)), .tooLong),
            (
                Message().text(1, "k").number(4, 1).number(5, 1).number(6, 1).number(7, .max),
                .counterOutOfRange
            ),
        ])
    func refusal(entry: Message, reason: MigrationRefusal.Reason) throws {
        let message = Message.payload().bytes(1, entry.bytes).bytes(1, Message.entry.bytes)
        let batch = try MigrationBatch(message)
        #expect(batch.credentials.count == 2)
        #expect(batch.refusals.map(\.entry) == [1])
        #expect(batch.refusals.map(\.reason) == [reason])
    }

    @Test(
        "an invalid payload is refused as a whole",
        arguments: [
            (Message().number(2, 3), MigrationError.unknownVersion),
            (Message().number(2, UInt64(bitPattern: -1)), .unknownVersion),
            (Message().number(3, 1_001), .sizeOutOfRange),
            (Message().number(3, UInt64(bitPattern: -1)), .sizeOutOfRange),
            (Message().number(3, 0x7fff_ffff), .sizeOutOfRange),
            (Message().number(3, 2).number(4, 2), .indexOutOfRange),
            (Message().number(3, 2).number(4, UInt64(bitPattern: -1)), .indexOutOfRange),
            (Message.payload().number(3, 1), .field(3)), (Message().text(3, "1"), .field(3)),
            (Message().number(1, 1), .field(1)),
            (.payload(Message.entry.text(1, "k")), .field(1)),
            (.payload(Message.entry.number(4, 1)), .field(4)),
            (.payload(Message().number(1, 1)), .field(1)),
            // Hostile lengths: beyond the end of the message, and beyond any possible length.
            (Message().raw([0x0a, 0x7f, 0]), .truncated),
            (Message().raw([0x0a] + Message.varint(.max)), .truncated),
            (Message().raw([0x0a] + Message.varint(1 << 62)), .truncated),
            (.payload(Message().raw([0x0a, 0x02, 0x41])), .truncated),
            (Message().raw([0x12]), .truncated), (Message().raw([0x10, 0x80]), .truncated),
            (Message().raw([0x11, 0, 0, 0, 0]), .truncated),
            (Message().raw([0x10] + [UInt8](repeating: 0xff, count: 10) + [1]), .malformed(at: 11)),
            (Message().raw([0x00, 0x00]), .malformed(at: 1)),
            (Message().raw([0x0b]), .malformed(at: 1)),
        ])
    func spoiled(message: Message, error: MigrationError) {
        #expect(throws: error) { _ = try MigrationBatch(message) }
    }

    @Test("a truncated payload is refused or keeps its complete entries, wherever it is cut")
    func truncated() throws {
        let whole = Message.payload().bytes
        let entryEnd = 2 + Message.entry.bytes.count
        for count in 1..<whole.count {
            let message = Message().raw(Array(whole[..<count]))
            if count < entryEnd {
                #expect(throws: MigrationError.truncated) { _ = try MigrationBatch(message) }
            } else {
                do { #expect(try MigrationBatch(message).credentials.count == 1) } catch {
                    #expect(error == .truncated)
                }
            }
        }
    }

    @Test(
        "text that is not a migration URI is refused",
        arguments: [
            ("", MigrationError.notAMigrationURI), ("otpauth://totp/b", .notAMigrationURI),
            ("otpauth-migration://online?data=AA==", .notAMigrationURI),
            ("otpauth-migration://offlinex?data=AA==", .notAMigrationURI),
            ("otpauth-migration://offline", .missingData),
            ("otpauth-migration://offline?", .missingData),
            ("otpauth-migration://offline?data=", .missingData),
            ("otpauth-migration://offline?x=1", .missingData),
            ("otpauth-migration://offline?data=CgA%3D&data=CgA%3D", .duplicateParameter),
            ("otpauth-migration://offline?data=C", .base64(.base64Length)),
            ("otpauth-migration://offline?data=C!A=", .base64(.notBase64(at: 1))),
            ("otpauth-migration://offline?data=CgB=", .base64(.nonzeroTrailingBits)),
        ])
    func notAURI(text: String, error: MigrationError) {
        #expect(throws: error) { _ = try MigrationBatch(text) }
    }

    @Test("deviations in the URI itself are reported")
    func uriWarnings() throws {
        let data = "EAEYAQ"
        let bare = try MigrationBatch("otpauth-migration://offline?data=\(data)")
        #expect(bare.warnings == [.missingPadding])
        let extra = try MigrationBatch("OTPAUTH-MIGRATION://offline/?a=b&data=\(data)%3D%3D")
        #expect(extra.warnings == [.unknownParameter])
        // The Base64 form of field 15 contains a plus sign.
        let message: [UInt8] = [0x18, 0x01, 0x7a, 0x03, 0x00, 0x00, 0xf8, 0x10, 0x01]
        let encoded = String(decoding: Base64.encode(message.span), as: UTF8.self)
        #expect(encoded.contains("+"))
        let spaced = encoded.replacing("+", with: " ")
        let batch = try MigrationBatch("otpauth-migration://offline?data=\(spaced)")
        #expect(batch.warnings == [.spaceAsPlus, .unknownField(entry: nil, field: 15)])
        let url = encoded.replacing("+", with: "-")
        #expect(
            try MigrationBatch("otpauth-migration://offline?data=\(url)").warnings == [
                .urlSafeAlphabet, .unknownField(entry: nil, field: 15),
            ])
        let kept = try MigrationBatch("otpauth-migration://offline?data=\(encoded)")
        #expect(kept.warnings == [.unknownField(entry: nil, field: 15)])
    }

    @Test("a part round-trips through its URI")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 2)
        for round in 0..<300 {
            let credentials = try (0..<(round % 12)).map { _ in try generator.simpleCredential() }
            let batch = try #require(
                MigrationBatch(
                    credentials: credentials, size: 3, index: round % 3,
                    id: Int32(truncatingIfNeeded: generator.next()), version: 1 + round % 2))
            let text = batch.format()
            let read = try text.withBytes { try MigrationBatch(parsing: $0) }
            #expect(read.credentials == credentials)
            #expect((read.size, read.index, read.id) == (batch.size, batch.index, batch.id))
            #expect(read.version == batch.version)
            #expect(read.warnings.isEmpty && read.refusals.isEmpty)
            #expect(read.format() == text)
        }
    }

    @Test("values that the format cannot represent are not written")
    func noRoom() throws {
        let key = SecretBytes(text: "k")
        let steam = try Credential(issuer: "", account: "", key: key, style: .steam)
        let slow = try Credential(
            issuer: "", account: "", key: key, movingFactor: .time(#require(TimeStep(period: 60))))
        let plain = try Credential(issuer: "", account: "", key: key)
        for credential in [steam, slow] {
            #expect(MigrationBatch(credentials: [plain, credential], id: 1) == nil)
        }
        #expect(MigrationBatch(credentials: [plain], id: 1) != nil)
        #expect(MigrationBatch(credentials: [plain], size: 1, index: 1, id: 1) == nil)
        #expect(MigrationBatch(credentials: [plain], id: 1, version: 3) == nil)
    }
}
