package import WatchwordSystem

// Appends the fields of a ``Transferable`` value.
extension FrameWriter {
    /// Appends a signed number as eight bytes.
    package func append(signed number: Int64) { append(UInt64(bitPattern: number), bytes: 8) }

    /// Appends the one-byte raw value of `choice`.
    package func append<Choice: RawRepresentable>(choice: Choice)
    where Choice.RawValue == UInt8 {
        append(choice.rawValue)
    }

    /// Appends the position of `choice` among all values of its type.
    package func append<Choice: CaseIterable & Equatable>(position choice: Choice) {
        let position = Choice.allCases.enumerated().first { $0.element == choice }?.offset
        append(UInt8(clamping: position ?? Int(UInt8.max)))
    }

    /// Appends a flag that says whether there is a value, and then the value.
    package func append<Value: Transferable>(optional value: Value?) {
        append(value != nil)
        if let value { append(value) }
    }

    /// Appends the number of values, and then the values.
    package func append<Value: Transferable>(list values: [Value]) {
        append(UInt64(values.count), bytes: 4)
        for value in values { append(value) }
    }
}
