package import WatchwordSystem

extension RefusalCost: Transferable {
    /// The first byte, which identifies the cost.
    enum Kind: UInt8, CaseIterable {
        case free, wait, wiped, notCounted
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .free(let left):
            output.append(choice: Kind.free)
            output.append(signed: Int64(left))
        case .wait(let seconds):
            output.append(choice: Kind.wait)
            output.append(signed: seconds)
        case .wiped: output.append(choice: Kind.wiped)
        case .notCounted: output.append(choice: Kind.notCounted)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .free: self = .free(left: try fields.integer(bytes))
        case .wait: self = .wait(seconds: try fields.signedNumber(bytes))
        case .wiped: self = .wiped
        case .notCounted: self = .notCounted
        }
    }
}

extension LockOut: Transferable {
    package func write(to output: FrameWriter) {
        output.append(signed: failures)
        output.append(signed: seconds)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            failures: try fields.signedNumber(bytes), seconds: try fields.signedNumber(bytes))
    }
}

extension VaultStatus: Transferable {
    package func write(to output: FrameWriter) {
        output.append(lockOut)
        output.append(signed: Int64(wiped))
        output.append(signed: Int64(failuresUntilLockOut))
        output.append(failuresUntilWipe != nil)
        if let failuresUntilWipe { output.append(signed: Int64(failuresUntilWipe)) }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            lockOut: try fields.value(bytes), wiped: try fields.integer(bytes),
            failuresUntilLockOut: try fields.integer(bytes),
            failuresUntilWipe: try fields.flag(bytes) ? try fields.integer(bytes) : nil)
    }
}
