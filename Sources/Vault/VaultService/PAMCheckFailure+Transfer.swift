package import Devices
internal import SecretVault
package import WatchwordSystem

extension PAMCheckFailure: Transferable {
    package func write(to output: FrameWriter) {
        output.append(reason)
        output.append(mayConcealAttempt)
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        self.init(
            reason: try fields.value(bytes), mayConcealAttempt: try fields.flag(bytes))
    }
}

extension PAMCheckFailure.Reason: Transferable {
    private enum Kind: UInt8 {
        case timedOut, cancelled, noServiceFile, noTerminal, answerTooLong, terminal, noUserName
        case accountRefused, failed, ended, talksTooMuch, nonsense, programNotFound, otherVersion
        case system, alreadyAsking
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .timedOut: output.append(choice: Kind.timedOut)
        case .cancelled: output.append(choice: Kind.cancelled)
        case .noServiceFile: output.append(choice: Kind.noServiceFile)
        case .noTerminal: output.append(choice: Kind.noTerminal)
        case .answerTooLong: output.append(choice: Kind.answerTooLong)
        case .terminal(let failure):
            output.append(choice: Kind.terminal)
            output.append(failure)
        case .noUserName: output.append(choice: Kind.noUserName)
        case .accountRefused(let failure):
            output.append(choice: Kind.accountRefused)
            output.append(failure)
        case .failed(let failure):
            output.append(choice: Kind.failed)
            output.append(failure)
        case .ended(let ending):
            output.append(choice: Kind.ended)
            output.append(ending)
        case .talksTooMuch: output.append(choice: Kind.talksTooMuch)
        case .nonsense: output.append(choice: Kind.nonsense)
        case .programNotFound: output.append(choice: Kind.programNotFound)
        case .otherVersion: output.append(choice: Kind.otherVersion)
        case .alreadyAsking(let name):
            output.append(choice: Kind.alreadyAsking)
            output.append(name)
        case .system(let failure):
            output.append(choice: Kind.system)
            output.append(failure)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .timedOut: self = .timedOut
        case .cancelled: self = .cancelled
        case .noServiceFile: self = .noServiceFile
        case .noTerminal: self = .noTerminal
        case .answerTooLong: self = .answerTooLong
        case .terminal: self = .terminal(try fields.value(bytes))
        case .noUserName: self = .noUserName
        case .accountRefused: self = .accountRefused(try fields.value(bytes))
        case .failed: self = .failed(try fields.value(bytes))
        case .ended: self = .ended(try fields.value(bytes))
        case .talksTooMuch: self = .talksTooMuch
        case .nonsense: self = .nonsense
        case .programNotFound: self = .programNotFound
        case .otherVersion: self = .otherVersion
        case .alreadyAsking: self = .alreadyAsking(for: try fields.value(bytes))
        case .system: self = .system(try fields.value(bytes))
        }
    }
}
