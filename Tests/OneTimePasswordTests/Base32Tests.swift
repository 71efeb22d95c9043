import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

struct Base32Vector: Codable, Sendable {
    let bytes: String
    let text: String
}

@Suite("Base32")
struct Base32Tests {
    @Test(
        "Base32 matches RFC 4648 in strict and tolerant decoding, with and without padding",
        arguments: try VectorFile<Base32Vector>("base32/rfc4648.json").cases)
    func matches(vector: Base32Vector) throws {
        let secret = try SecretBytes(hex: vector.bytes)
        let bare = String(vector.text.prefix { $0 != "=" })
        #expect(Base32.encode(secret, padding: .required).text == vector.text)
        #expect(Base32.encode(secret).text == bare)
        #expect(try decode(vector.text) == secret)
        #expect(try decode(bare, padding: .omitted) == secret)
        let tolerant = try decodeTolerantly(vector.text)
        #expect(tolerant.secret == secret)
        #expect(tolerant.tolerances == (bare == vector.text ? [] : [.padding]))
        #expect(try decodeTolerantly(bare).tolerances.isEmpty)
    }

    @Test("byte strings of every length from 0 to 256 round-trip")
    func roundTrip() throws {
        let bytes = (0...255).map { UInt8($0) }
        for count in 0...256 {
            let secret = SecretBytes(copying: bytes.span.extracting(..<count))
            for padding in [Base32.Padding.required, .omitted] {
                let text = Base32.encode(secret, padding: padding).text
                #expect(try decode(text, padding: padding) == secret)
            }
        }
    }

    @Test(
        "each deviation is reported by tolerant decoding and refused by strict decoding",
        arguments: [
            ("mzxw6ytboi", "666f6f626172", Base32Deviation.lowerCase),
            ("MZXW 6YTB OI", "666f6f626172", .spaces), ("MZXW6YTBOI\r\n", "666f6f626172", .spaces),
            ("MZXW-6YTB-OI", "666f6f626172", .dashes),
            ("MZXW6YTBOI======", "666f6f626172", .padding),
            ("MZXW6YTBOI=", "666f6f626172", .padding), ("MZXW6YTB========", "666f6f6261", .padding),
            ("MZXW6YTBOJ", "666f6f626172", .nonzeroTrailingBits),
            ("MZ", "66", .nonzeroTrailingBits),
            ("M", "", .strayCharacter), ("MYA", "66", .strayCharacter),
            ("MZXW6Y", "666f6f", .strayCharacter),
        ])
    func tolerance(text: String, bytes: String, tolerance: Base32Deviation) throws {
        let (secret, tolerances) = try decodeTolerantly(text)
        #expect(secret.hex == bytes)
        #expect(tolerances == [tolerance])
        #expect(throws: OneTimePasswordError.notStrict(.key(tolerance))) {
            _ = try decode(text, padding: .omitted)
        }
    }

    @Test("several deviations are all reported")
    func several() throws {
        let (secret, tolerances) = try decodeTolerantly(" mzxw-6ytb oj= ")
        #expect(secret.text == "foobar")
        #expect(tolerances == [.lowerCase, .spaces, .dashes, .padding, .nonzeroTrailingBits])
    }

    @Test("missing or incorrect padding is refused by strict decoding")
    func missingPadding() {
        #expect(throws: OneTimePasswordError.notStrict(.key(.padding))) {
            _ = try decode("MY=====")
        }
        #expect(throws: OneTimePasswordError.notStrict(.key(.padding))) { _ = try decode("MY") }
        #expect(throws: OneTimePasswordError.notStrict(.key(.padding))) {
            _ = try decode("MZXW6YTB=")
        }
    }

    @Test(
        "a character outside the alphabet is refused with its position",
        arguments: [
            ("MZXW0", 4), ("1", 0), ("MZ8W", 2), ("MY======M", 8), ("M=Y", 2), ("MZXW6_", 5),
            ("MZ\u{e9}", 2), ("MZ\0", 2), ("MZ+W", 2),
        ])
    func character(text: String, position: Int) {
        #expect(throws: OneTimePasswordError.notBase32(at: position)) {
            _ = try decodeTolerantly(text)
        }
        #expect(throws: OneTimePasswordError.notBase32(at: position)) { _ = try decode(text) }
    }

    private func decode(
        _ text: String, padding: Base32.Padding = .required
    ) throws(OneTimePasswordError) -> SecretBytes {
        let bytes = Array(text.utf8)
        return try Base32.decode(bytes.span, padding: padding)
    }

    private func decodeTolerantly(
        _ text: String
    ) throws(OneTimePasswordError) -> (secret: SecretBytes, tolerances: [Base32Deviation]) {
        let bytes = Array(text.utf8)
        return try Base32.decodeTolerantly(bytes.span)
    }
}
