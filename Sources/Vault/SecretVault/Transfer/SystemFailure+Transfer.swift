package import WatchwordCryptography
package import WatchwordSystem

extension SystemCallFailure: Transferable {
    package func write(to output: FrameWriter) {
        let call = ShortWord.bytes(of: call)
        output.append(UInt8(call.count))
        for byte in call { output.append(byte) }
        output.append(UInt64(UInt32(bitPattern: number)), bytes: 4)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let call = try fields.word(bytes)
        let number = UInt32(truncatingIfNeeded: try fields.number(bytes, width: 4))
        self.init(call: call, number: Int32(bitPattern: number))
    }
}

extension CryptographyFailure: Transferable {
    package func write(to output: FrameWriter) {
        output.append(position: call)
        output.append(UInt64(code), bytes: 8)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            call: try fields.choiceByPosition(bytes),
            code: UInt(try fields.number(bytes, width: 8)))
    }
}

extension ChildProcess.Ending: Transferable {
    private enum Kind: UInt8 {
        case exited, crashed, forbiddenCall, processorTimeSpent, killed, unknown
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .exited(let status):
            output.append(choice: Kind.exited)
            output.append(signed: Int64(status))
        case .crashed(let signal):
            output.append(choice: Kind.crashed)
            output.append(signed: Int64(signal))
        case .forbiddenCall: output.append(choice: Kind.forbiddenCall)
        case .processorTimeSpent: output.append(choice: Kind.processorTimeSpent)
        case .killed: output.append(choice: Kind.killed)
        case .unknown: output.append(choice: Kind.unknown)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .exited: self = .exited(try ChildProcess.Ending.number(&fields, bytes))
        case .crashed:
            self = .crashed(signal: try ChildProcess.Ending.number(&fields, bytes))
        case .forbiddenCall: self = .forbiddenCall
        case .processorTimeSpent: self = .processorTimeSpent
        case .killed: self = .killed
        case .unknown: self = .unknown
        }
    }

    private static func number(
        _ fields: inout FieldReader, _ bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) -> Int32 {
        guard let number = Int32(exactly: try fields.integer(bytes)) else {
            throw FieldReader.Unreadable()
        }
        return number
    }
}
