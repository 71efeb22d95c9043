// The values of the standard library.

extension Transferable where Self: FixedWidthInteger {
    package func write(to output: FrameWriter) {
        output.append(UInt64(truncatingIfNeeded: self), bytes: Self.bitWidth / 8)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(truncatingIfNeeded: try fields.number(bytes, width: Self.bitWidth / 8))
    }
}

extension Int: Transferable {}
extension Int32: Transferable {}
extension Int64: Transferable {}
extension UInt: Transferable {}
extension UInt8: Transferable {}
extension UInt16: Transferable {}
extension UInt32: Transferable {}
extension UInt64: Transferable {}

extension Bool: Transferable {
    package func write(to output: FrameWriter) { output.append(self ? 1 : 0 as UInt8) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.flag(bytes)
    }
}

extension String: Transferable {
    package func write(to output: FrameWriter) { output.append(text: self) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.text(bytes, limit: TransferLimits.string)
    }
}

// A flag that indicates whether there is a value, and then the value.
extension Optional: Transferable where Wrapped: Transferable {
    package func write(to output: FrameWriter) {
        switch self {
        case let value?: output.append(true, value)
        case nil: output.append(false)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.flag(bytes) ? try fields.value(bytes) as Wrapped : nil
    }
}

extension Array: Transferable where Element: Transferable {
    package func write(to output: FrameWriter) {
        output.append(UInt64(count), bytes: 4)
        for element in self { output.append(element) }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.list(bytes, most: TransferLimits.elements)
    }
}

// A case without associated values: its raw value, or else its position among all cases.

extension Transferable where Self: RawRepresentable, RawValue == UInt8 {
    package func write(to output: FrameWriter) { output.append(rawValue) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.choice(bytes)
    }
}

extension Transferable where Self: CaseIterable & Equatable {
    package func write(to output: FrameWriter) {
        let position = Self.allCases.enumerated().first { $0.element == self }?.offset
        output.append(UInt8(clamping: position ?? Int(UInt8.max)))
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.choiceByPosition(bytes)
    }
}

extension Transferable where Self: CaseIterable & Equatable & RawRepresentable, RawValue == UInt8 {
    package func write(to output: FrameWriter) { output.append(rawValue) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.choice(bytes)
    }
}

// A case among others of its enum that have associated values: its position in a table.

extension FrameWriter {
    /// Appends the position of `value` in `table`.
    package func append<Value: Equatable>(_ value: Value, in table: [Value]) {
        append(UInt8(clamping: table.firstIndex(of: value) ?? Int(UInt8.max)))
    }
}

extension FieldReader {
    /// Reads the position of a value in `table`.
    package mutating func value<Value>(
        _ bytes: Span<UInt8>, in table: [Value]
    ) throws(Unreadable) -> Value {
        let position = Int(try byte(bytes))
        guard table.indices.contains(position) else { throw Unreadable() }
        return table[position]
    }
}

// A result: a flag that indicates whether there is a value, and then the value or the error.
extension Result: Transferable where Success: Transferable, Failure: Transferable {
    package func write(to output: FrameWriter) {
        switch self {
        case .success(let value): output.append(true, value)
        case .failure(let error): output.append(false, error)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            try fields.flag(bytes)
            ? .success(try fields.value(bytes)) : .failure(try fields.value(bytes))
    }
}

extension SystemCallFailure: Transferable {
    package func write(to output: FrameWriter) {
        output.append(ShortWord(showing: call), number)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let call: ShortWord = try fields.value(bytes)
        self.init(call: call.text, number: try fields.value(bytes))
    }
}

extension ChildProcess.Ending: Transferable {
    private enum Kind: UInt8, Transferable {
        case exited, crashed, forbiddenCall, processorTimeSpent, killed, unknown
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .exited(let status): output.append(Kind.exited, status)
        case .crashed(let signal): output.append(Kind.crashed, signal)
        case .forbiddenCall: output.append(Kind.forbiddenCall)
        case .processorTimeSpent: output.append(Kind.processorTimeSpent)
        case .killed: output.append(Kind.killed)
        case .unknown: output.append(Kind.unknown)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .exited: self = try fields.make(Self.exited, from: bytes)
        case .crashed: self = try fields.make(Self.crashed, from: bytes)
        case .forbiddenCall: self = .forbiddenCall
        case .processorTimeSpent: self = .processorTimeSpent
        case .killed: self = .killed
        case .unknown: self = .unknown
        }
    }
}

extension HelperFailure: Transferable {
    private enum Kind: UInt8, Transferable {
        case notFound, cannotStart, notConfined, otherVersion, died, system
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .notFound: output.append(Kind.notFound)
        case .cannotStart(let failure): output.append(Kind.cannotStart, failure)
        case .notConfined(let failure): output.append(Kind.notConfined, failure)
        case .otherVersion: output.append(Kind.otherVersion)
        case .died(let ending): output.append(Kind.died, ending)
        case .system(let failure): output.append(Kind.system, failure)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .notFound: self = .notFound
        case .cannotStart: self = try fields.make(Self.cannotStart, from: bytes)
        case .notConfined: self = try fields.make(Self.notConfined, from: bytes)
        case .otherVersion: self = .otherVersion
        case .died: self = try fields.make(Self.died, from: bytes)
        case .system: self = try fields.make(Self.system, from: bytes)
        }
    }
}
