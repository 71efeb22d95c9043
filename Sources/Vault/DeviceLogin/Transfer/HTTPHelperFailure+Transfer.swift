package import Courier
internal import SecretVault
package import WatchwordSystem

// What is sent of the types of `Courier` and of helper processes.

extension HTTPHelperFailure: Transferable {
    private enum Kind: UInt8 {
        case helper, library, unknownHost, notLoopback, unreachable, timedOut, connectionLost
        case certificate, handshake, authorities, badAnswer, tooLarge
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .helper(let failure):
            output.append(choice: Kind.helper)
            output.append(failure)
        case .library(let code):
            output.append(choice: Kind.library)
            output.append(signed: Int64(code))
        case .unknownHost: output.append(choice: Kind.unknownHost)
        case .notLoopback: output.append(choice: Kind.notLoopback)
        case .unreachable(let failure):
            output.append(choice: Kind.unreachable)
            output.append(failure)
        case .timedOut: output.append(choice: Kind.timedOut)
        case .connectionLost: output.append(choice: Kind.connectionLost)
        case .certificate(let fault):
            output.append(choice: Kind.certificate)
            output.append(choice: fault)
        case .handshake: output.append(choice: Kind.handshake)
        case .authorities: output.append(choice: Kind.authorities)
        case .badAnswer: output.append(choice: Kind.badAnswer)
        case .tooLarge: output.append(choice: Kind.tooLarge)
        }
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind: Kind = try fields.choice(bytes)
        switch kind {
        case .helper: self = .helper(try fields.value(bytes))
        case .library:
            guard let code = Int32(exactly: try fields.signedNumber(bytes)) else {
                throw FieldReader.Unreadable()
            }
            self = .library(code: code)
        case .unknownHost: self = .unknownHost
        case .notLoopback: self = .notLoopback
        case .unreachable: self = .unreachable(try fields.value(bytes))
        case .timedOut: self = .timedOut
        case .connectionLost: self = .connectionLost
        case .certificate: self = .certificate(try fields.choice(bytes))
        case .handshake: self = .handshake
        case .authorities: self = .authorities
        case .badAnswer: self = .badAnswer
        case .tooLarge: self = .tooLarge
        }
    }
}

extension HelperResponse.Problem: Transferable {
    package func write(to output: FrameWriter) {
        output.append(signed: Int64(status))
        output.append(type.text)
        output.append(signed: Int64(retryAfter))
    }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let status = try fields.integer(bytes)
        let text: String = try fields.value(bytes)
        let type = PlainText(showing: text)
        guard type.text == text else { throw FieldReader.Unreadable() }
        self.init(status: status, type: type, retryAfter: try fields.integer(bytes))
    }
}

extension ServerAddress: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let text: String = try fields.value(bytes)
        do { try self.init(parsing: text) } catch { throw FieldReader.Unreadable() }
        guard self.text == text else { throw FieldReader.Unreadable() }
    }
}

extension Token: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(
        reading fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let text: String = try fields.value(bytes)
        guard let token = Token(text) else { throw FieldReader.Unreadable() }
        self = token
    }
}
