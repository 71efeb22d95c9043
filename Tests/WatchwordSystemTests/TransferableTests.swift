import TestSupport
import Testing
import WatchwordSystem

struct TransferableTests {
    private enum Level: UInt8, Transferable {
        case low = 3
        case high = 7
    }

    private enum Side: CaseIterable, Transferable {
        case left, right
    }

    private struct Range: Hashable, Transferable {
        let start: Int
        let end: Int

        init?(start: Int, end: Int) {
            guard start <= end else { return nil }
            self.start = start
            self.end = end
        }

        func write(to output: FrameWriter) { output.append(start, end) }

        init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
            self = try fields.make(Self.init(start:end:), from: bytes)
        }
    }

    private enum Shape: Hashable, Transferable {
        case empty
        case range(Range, name: String?)

        private enum Kind: UInt8, Transferable {
            case empty, range
        }

        func write(to output: FrameWriter) {
            switch self {
            case .empty: output.append(Kind.empty)
            case .range(let range, let name): output.append(Kind.range, range, name)
            }
        }

        init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
            switch try fields.value(bytes) as Kind {
            case .empty: self = .empty
            case .range: self = try fields.make(Self.range, from: bytes)
            }
        }
    }

    private func expect<Value: Transferable & Equatable>(
        _ value: Value, as bytes: [UInt8]
    ) throws {
        #expect(try MessageForm.bytes(of: value) == bytes)
        #expect(MessageForm.read(bytes) == value)
    }

    private func expectUnreadable<Value: Transferable>(_ type: Value.Type, _ bytes: [UInt8]) {
        #expect(throws: FieldReader.Unreadable()) { _ = try Value(parsing: bytes.span) }
    }

    @Test("numbers are big-endian, and have the width of their type")
    func numbers() throws {
        try expect(0xfe as UInt8, as: [0xfe])
        try expect(0x0102 as UInt16, as: [1, 2])
        try expect(-2 as Int32, as: [0xff, 0xff, 0xff, 0xfe])
        try expect(UInt32.max - 1, as: [0xff, 0xff, 0xff, 0xfe])
        try expect(-2, as: [UInt8](repeating: 0xff, count: 7) + [0xfe])
        try expect(Int64.min, as: [0x80, 0, 0, 0, 0, 0, 0, 0])
        try expect(UInt64(1) << 56, as: [1, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("strings, lists and optional values are read as they were written")
    func containers() throws {
        try expect("é", as: [0, 0, 0, 2, 0xc3, 0xa9])
        try expect([true, false], as: [0, 0, 0, 2, 1, 0])
        try expect(nil as Bool?, as: [0])
        try expect(true as Bool?, as: [1, 1])
        expectUnreadable(String.self, [0, 0, 0, 2, 0xc3, 0x28])
        expectUnreadable(Bool.self, [2])
        expectUnreadable(Bool?.self, [2, 1])
        expectUnreadable(Bool?.self, [0, 1])
    }

    @Test("a case is written as its raw value or its position, and other values are refused")
    func cases() throws {
        try expect(Level.high, as: [7])
        try expect(Side.right, as: [1])
        for byte in [0, 4, 0xff] as [UInt8] { expectUnreadable(Level.self, [byte]) }
        for byte in [2, 0xff] as [UInt8] { expectUnreadable(Side.self, [byte]) }
    }

    @Test(
        "the fields of a value are read in order, and fields that its type refuses are unreadable")
    func fields() throws {
        let one: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]
        let two: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 2]
        let range = try #require(Range(start: 1, end: 2))
        try expect(range, as: one + two)
        try expect(Shape.empty, as: [0])
        try expect(Shape.range(range, name: nil), as: [1] + one + two + [0])
        try expect(Shape.range(range, name: "a"), as: [1] + one + two + [1, 0, 0, 0, 1, 0x61])
        expectUnreadable(Range.self, two + one)
        expectUnreadable(Range.self, one + two + [0])
        expectUnreadable(Shape.self, [1] + two + one + [0])
        expectUnreadable(Shape.self, [2])
        for count in 0..<16 { expectUnreadable(Range.self, Array((one + two).prefix(count))) }
    }

    @Test("a list longer than its limit or than the available bytes is refused before it is read")
    func limits() throws {
        let bytes: [UInt8] = [0, 0, 0, 3, 1, 1, 1]
        for (most, isRead) in [(3, true), (2, false)] {
            var fields = FieldReader(.bigEndian)
            do throws(FieldReader.Unreadable) {
                let list: [Bool] = try fields.list(bytes.span, most: most)
                #expect(isRead && list.count == 3)
            } catch {
                #expect(!isRead)
            }
        }
        for count in [4, UInt32(TransferLimits.elements) + 1, .max] {
            let head = Array(count.littleEndianBytes.reversed())
            expectUnreadable([Bool].self, head + [1, 1, 1])
            expectUnreadable([String].self, head + [1, 1, 1])
        }
        let tooLong = String(repeating: "a", count: TransferLimits.string + 1)
        expectUnreadable(String.self, try MessageForm.bytes(of: tooLong))
    }

    @Test("the failure of a system call and the end of a process are read as they were written")
    func failures() throws {
        try expect(
            SystemCallFailure(call: "open", number: -7),
            as: [4, 0x6f, 0x70, 0x65, 0x6e, 0xff, 0xff, 0xff, 0xf9])
        expectUnreadable(SystemCallFailure.self, [0, 0, 0, 0, 1])
        expectUnreadable(SystemCallFailure.self, [1, 0x1b, 0, 0, 0, 1])
        try expect(ChildProcess.Ending.exited(-1), as: [0, 0xff, 0xff, 0xff, 0xff])
        try expect(ChildProcess.Ending.crashed(signal: 11), as: [1, 0, 0, 0, 11])
        try expect(ChildProcess.Ending.forbiddenCall, as: [2])
        try expect(ChildProcess.Ending.processorTimeSpent, as: [3])
        try expect(ChildProcess.Ending.killed, as: [4])
        try expect(ChildProcess.Ending.unknown, as: [5])
    }
}
