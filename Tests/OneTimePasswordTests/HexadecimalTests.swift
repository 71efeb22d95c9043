import Testing
import WatchwordCryptography

@testable import OneTimePassword

@Suite struct HexadecimalTests {
    private func decoded(_ text: String) throws(OneTimePasswordError) -> [UInt8] {
        try Hexadecimal.decode(Array(text.utf8).span).withBytes { bytes in
            bytes.indices.map { bytes[$0] }
        }
    }

    @Test("pairs of digits in either case are read as bytes")
    func pairs() throws {
        #expect(try decoded("00ff0aFA9c") == [0x00, 0xFF, 0x0A, 0xFA, 0x9C])
        #expect(try decoded("") == [])
    }

    @Test(
        "any other character is refused, with its position",
        arguments: [("0g", 1), ("00 11", 2), ("0x11", 1), ("11\n", 2), ("١1", 0)])
    func otherCharacters(_ text: String, _ position: Int) {
        #expect(throws: OneTimePasswordError.notHexadecimal(at: position)) { try decoded(text) }
    }

    @Test("an odd number of digits is refused")
    func odd() {
        #expect(throws: OneTimePasswordError.oddDigitCount) { try decoded("0") }
        #expect(throws: OneTimePasswordError.oddDigitCount) { try decoded("001") }
    }
}
