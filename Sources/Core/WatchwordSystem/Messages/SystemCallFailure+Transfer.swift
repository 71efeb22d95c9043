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
