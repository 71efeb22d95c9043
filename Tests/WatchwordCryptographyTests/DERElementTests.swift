import TestSupport
import Testing

@testable import WatchwordCryptography

@Suite("DER")
struct DERElementTests {
    @Test("elements are read with their tags and contents")
    func read() throws {
        let elements = try DERElement.read(
            Hex.bytes("020101 3003040100 a1020500 bf853d020500".text))
        #expect(elements.map(\.tag) == [.integer, .sequence, .context(1), .context(701)])
        #expect(elements.map(\.isConstructed) == [false, true, true, true])
        #expect(elements[0].number == 1)
        #expect(try elements[1].children().map(\.tag) == [.octetString])
        #expect(try DERElement.read([]).isEmpty)
    }

    @Test(
        "truncations, indefinite lengths and lengths that are not the shortest are refused",
        arguments: [
            "02", "0201", "020201", "30800000", "3081020500", "0281 0101", "02820001 01", "1f",
            "1f8002 0500", "04848000000000",
        ])
    func refused(text: String) throws {
        let bytes = try Hex.bytes(text.text)
        #expect(throws: CryptographyError.notDER) { try DERElement.read(bytes) }
    }

    @Test("a single element is read only if nothing follows it")
    func readOne() throws {
        #expect(try DERElement.readOne([5, 0]).tag == .universal(5))
        #expect(throws: CryptographyError.notDER) { try DERElement.readOne([5, 0, 5, 0]) }
        #expect(throws: CryptographyError.notDER) { try DERElement.readOne([]) }
        #expect(throws: CryptographyError.notDER) { try DERElement.readOne([4, 0]).children() }
    }

    @Test("numbers of up to eight bytes are read in their shortest form")
    func numbers() throws {
        let numbers: [(String, Int64?)] = [
            ("020100", 0), ("02017f", 127), ("020180", -128), ("02020080", 128),
            ("0a0102", 2), ("0208 7fffffffffffffff", .max), ("0208 8000000000000000", .min),
            ("0200", nil), ("02020001", nil), ("0202ff80", nil), ("040101", nil),
            ("0209 008000000000000000", nil),
        ]
        for (text, number) in numbers {
            #expect(try DERElement.readOne(Hex.bytes(text.text)).number == number, "\(text)")
        }
    }
}

extension String {
    /// The text without spaces.
    fileprivate var text: String { filter { $0 != " " } }
}
