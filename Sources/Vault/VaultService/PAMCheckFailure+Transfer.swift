package import Devices
package import WatchwordSystem

extension PAMCheckFailure: Transferable {
    package func write(to output: FrameWriter) { output.append(reason, mayConcealAttempt) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension PAMCheckFailure.Reason: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case timedOut, cancelled, noServiceFile, noTerminal, answerTooLong, terminal, noUserName
        case accountRefused, failed, ended, talksTooMuch, nonsense, programNotFound, otherVersion
        case system, alreadyAsking
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .timedOut: output.append(Kind.timedOut)
        case .cancelled: output.append(Kind.cancelled)
        case .noServiceFile: output.append(Kind.noServiceFile)
        case .noTerminal: output.append(Kind.noTerminal)
        case .answerTooLong: output.append(Kind.answerTooLong)
        case .terminal(let failure): output.append(Kind.terminal, failure)
        case .noUserName: output.append(Kind.noUserName)
        case .accountRefused(let failure): output.append(Kind.accountRefused, failure)
        case .failed(let failure): output.append(Kind.failed, failure)
        case .ended(let ending): output.append(Kind.ended, ending)
        case .talksTooMuch: output.append(Kind.talksTooMuch)
        case .nonsense: output.append(Kind.nonsense)
        case .programNotFound: output.append(Kind.programNotFound)
        case .otherVersion: output.append(Kind.otherVersion)
        case .alreadyAsking(let name): output.append(Kind.alreadyAsking, name)
        case .system(let failure): output.append(Kind.system, failure)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            case .noServiceFile: .noServiceFile
            case .noTerminal: .noTerminal
            case .answerTooLong: .answerTooLong
            case .terminal: try fields.make(Self.terminal, from: bytes)
            case .noUserName: .noUserName
            case .accountRefused: try fields.make(Self.accountRefused, from: bytes)
            case .failed: try fields.make(Self.failed, from: bytes)
            case .ended: try fields.make(Self.ended, from: bytes)
            case .talksTooMuch: .talksTooMuch
            case .nonsense: .nonsense
            case .programNotFound: .programNotFound
            case .otherVersion: .otherVersion
            case .alreadyAsking: try fields.make(Self.alreadyAsking, from: bytes)
            case .system: try fields.make(Self.system, from: bytes)
            }
    }
}
