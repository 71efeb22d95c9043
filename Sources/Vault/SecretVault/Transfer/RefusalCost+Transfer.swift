package import WatchwordSystem

extension RefusalCost: Transferable {
    /// The first byte, which identifies the cost.
    enum Kind: UInt8, CaseIterable, Transferable {
        case free, wait, wiped, notCounted
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .free(let left): output.append(Kind.free, left)
        case .wait(let seconds): output.append(Kind.wait, seconds)
        case .wiped: output.append(Kind.wiped)
        case .notCounted: output.append(Kind.notCounted)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .free: try fields.make(Self.free, from: bytes)
            case .wait: try fields.make(Self.wait, from: bytes)
            case .wiped: .wiped
            case .notCounted: .notCounted
            }
    }
}

extension LockOut: Transferable {
    package func write(to output: FrameWriter) { output.append(failures, seconds) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(failures:seconds:), from: bytes)
    }
}

extension VaultStatus: Transferable {
    package func write(to output: FrameWriter) {
        output.append(lockOut, wiped, failuresUntilLockOut, failuresUntilWipe)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(
            lockOut: try fields.value(bytes), wiped: try fields.value(bytes),
            failuresUntilLockOut: try fields.value(bytes),
            failuresUntilWipe: try fields.value(bytes))
    }
}
