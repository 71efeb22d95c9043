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

// A flag that says whether there is a value, and then the value.
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

// A result: a flag that says whether there is a value, and then the value or the error.
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
