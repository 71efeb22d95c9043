import Testing
import WatchwordSystem

struct FieldReaderTests {
    @Test("numbers are read in the given byte order")
    func numbers() throws {
        let bytes: [UInt8] = [1, 2, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]
        for (order, short, long) in [
            (FieldReader.ByteOrder.bigEndian, 0x0203, UInt64.max - 1),
            (.littleEndian, 0x0302, 0xfeff_ffff_ffff_ffff),
        ] as [(FieldReader.ByteOrder, UInt64, UInt64)] {
            var fields = FieldReader(order)
            #expect(try fields.byte(bytes.span) == 1)
            #expect(try fields.number(bytes.span, width: 2) == short)
            #expect(fields.position == 3)
            #expect(try fields.number(bytes.span, width: 8) == long)
            try fields.finish(bytes.span)
        }
    }

    @Test("a string is read up to its limit, and a longer one is refused")
    func limits() throws {
        let bytes: [UInt8] = [0, 0, 0, 3, 0x61, 0x62, 0x63]
        var fields = FieldReader(.bigEndian)
        #expect(try fields.string(bytes.span, limit: 3) == 4..<7)
        var strict = FieldReader(.bigEndian)
        #expect(throws: FieldReader.Unreadable()) { try strict.string(bytes.span, limit: 2) }
        var text = FieldReader(.bigEndian)
        #expect(try text.text(bytes.span, limit: 3) == "abc")
    }

    @Test(
        "a field that extends beyond the end of the data is refused",
        arguments: [
            [], [0], [0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 3, 1, 2], [0xff, 0xff, 0xff, 0xff, 1],
            [0x80, 0, 0, 0, 1],
        ] as [[UInt8]])
    func truncated(bytes: [UInt8]) {
        var fields = FieldReader(.bigEndian)
        #expect(throws: FieldReader.Unreadable()) { try fields.string(bytes.span, limit: .max) }
    }

    @Test("text that is not UTF-8 is refused")
    func notText() {
        for bytes in [[0xc0, 0x80], [0xff], [0xed, 0xa0, 0x80]] as [[UInt8]] {
            let field = [0, 0, 0, UInt8(bytes.count)] + bytes
            var fields = FieldReader(.bigEndian)
            #expect(throws: FieldReader.Unreadable()) { try fields.text(field.span, limit: 9) }
        }
    }

    @Test("trailing bytes are refused")
    func extra() throws {
        let bytes: [UInt8] = [1, 2]
        var fields = FieldReader(.bigEndian)
        #expect(try fields.byte(bytes.span) == 1)
        #expect(throws: FieldReader.Unreadable()) { try fields.finish(bytes.span) }
        #expect(try fields.take(1, of: bytes.span) == 1..<2)
        try fields.finish(bytes.span)
        #expect(throws: FieldReader.Unreadable()) { try fields.byte(bytes.span) }
    }
}
