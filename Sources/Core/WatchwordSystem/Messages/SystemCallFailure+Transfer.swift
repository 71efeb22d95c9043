extension SystemCallFailure: Transferable {
    package func write(to output: FrameWriter) {
        let call = ShortWord.bytes(of: call)
        output.append(UInt8(call.count))
        for byte in call { output.append(byte) }
        output.append(number)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self.init(call: try fields.word(bytes), number: try fields.value(bytes))
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
