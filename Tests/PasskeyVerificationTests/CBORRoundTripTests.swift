import TestSupport
import Testing

@testable import PasskeyVerification

@Suite("CBOR round trip")
struct CBORRoundTripTests {
    @Test("the output of an independent encoder decodes, and every truncation is refused")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 15)
        for _ in 0..<2_000 {
            let item = randomItem(levels: 4, &generator)
            let bytes = item.encoded
            #expect(try EncodedCBOR(readCBOR(bytes, keyOrder: .canonical)) == item)
            for count in bytes.indices {
                #expect(throws: PasskeyError.truncated) {
                    try readCBOR(Array(bytes.prefix(count)), keyOrder: .canonical)
                }
            }
        }
    }

    @Test("an item with a changed byte is refused, or is the exact encoding of a different item")
    func changedByte() throws {
        var generator = SeededGenerator(seed: 16)
        var accepted = 0
        for _ in 0..<2_000 {
            var bytes = randomItem(levels: 3, &generator).encoded
            let index = Int.random(in: bytes.indices, using: &generator)
            bytes[index] ^= UInt8.random(in: 1...255, using: &generator)
            do {
                let value = try readCBOR(bytes, keyOrder: .canonical)
                #expect(EncodedCBOR(value).encoded == bytes)
                accepted += 1
            } catch {
                continue
            }
        }
        #expect((100..<1_900).contains(accepted))
    }

    private func randomItem(levels: Int, _ generator: inout SeededGenerator) -> EncodedCBOR {
        switch Int.random(in: 0..<(levels > 0 ? 8 : 5), using: &generator) {
        case 0: return .integer(randomInteger(&generator))
        case 1: return .bytes(randomBytes(&generator))
        case 2: return .text(String(Hex.text(randomBytes(&generator)).prefix(30)))
        case 3: return .boolean(Bool.random(using: &generator))
        case 4: return .null
        case 5:
            let count = Int.random(in: 0..<4, using: &generator)
            return .array((0..<count).map { _ in randomItem(levels: levels - 1, &generator) })
        default:
            var keys: [[UInt8]: EncodedCBOR] = [:]
            for _ in 0..<Int.random(in: 0..<4, using: &generator) {
                let key: EncodedCBOR =
                    Bool.random(using: &generator)
                    ? .integer(randomInteger(&generator))
                    : .text(Hex.text(randomBytes(&generator)))
                keys[key.encoded] = key
            }
            let sorted = keys.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            return .map(
                sorted.map { .init($0.value, randomItem(levels: levels - 1, &generator)) })
        }
    }

    /// The integers have encodings of every length.
    private func randomInteger(_ generator: inout SeededGenerator) -> Int64 {
        Int64.random(in: .min ... .max, using: &generator)
            >> Int64.random(in: 0..<64, using: &generator)
    }

    private func randomBytes(_ generator: inout SeededGenerator) -> [UInt8] {
        let count = Int.random(in: 0..<40, using: &generator)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}

extension EncodedCBOR {
    /// The item in the form that the encoder accepts, with the keys in canonical order.
    fileprivate init(_ value: CBORValue) {
        switch value {
        case .unsigned(let value): self.init(unsigned: value)
        case .negative(let argument): self.init(negative: argument)
        case .bytes(let bytes): self = .bytes(bytes)
        case .text(let text): self = .text(text.string)
        case .array(let items): self = .array(items.map { EncodedCBOR($0) })
        case .boolean(let value): self = .boolean(value)
        case .null: self = .null
        case .map(let map):
            let members = map.keys.compactMap { key in
                map[key].map { Member(EncodedCBOR(key), EncodedCBOR($0)) }
            }
            self = .map(
                members.sorted { $0.key.encoded.lexicographicallyPrecedes($1.key.encoded) })
        }
    }

    private init(unsigned value: UInt64) {
        self = Int64(exactly: value).map { .integer($0) } ?? .raw(Self.head(0, value))
    }

    private init(negative argument: UInt64) {
        self = Int64(exactly: argument).map { .integer(-1 - $0) } ?? .raw(Self.head(1, argument))
    }

    private init(_ key: CBORKey) {
        switch key {
        case .unsigned(let value): self.init(unsigned: value)
        case .negative(let argument): self.init(negative: argument)
        case .text(let text): self = .text(text.string)
        }
    }
}
