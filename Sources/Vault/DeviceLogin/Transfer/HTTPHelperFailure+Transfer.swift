package import Courier
package import WatchwordSystem

// What is sent of the types of `Courier` and of helper processes.

extension HTTPHelperFailure: Transferable {
    private enum Kind: UInt8, Transferable {
        case helper, library, unknownHost, notLoopback, unreachable, timedOut, connectionLost
        case certificate, handshake, authorities, badAnswer, tooLarge
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .helper(let failure): output.append(Kind.helper, failure)
        case .library(let code): output.append(Kind.library, code)
        case .unknownHost: output.append(Kind.unknownHost)
        case .notLoopback: output.append(Kind.notLoopback)
        case .unreachable(let failure): output.append(Kind.unreachable, failure)
        case .timedOut: output.append(Kind.timedOut)
        case .connectionLost: output.append(Kind.connectionLost)
        case .certificate(let fault): output.append(Kind.certificate, fault)
        case .handshake: output.append(Kind.handshake)
        case .authorities: output.append(Kind.authorities)
        case .badAnswer: output.append(Kind.badAnswer)
        case .tooLarge: output.append(Kind.tooLarge)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .helper: try fields.make(Self.helper, from: bytes)
            case .library: try fields.make(Self.library, from: bytes)
            case .unknownHost: .unknownHost
            case .notLoopback: .notLoopback
            case .unreachable: try fields.make(Self.unreachable, from: bytes)
            case .timedOut: .timedOut
            case .connectionLost: .connectionLost
            case .certificate: try fields.make(Self.certificate, from: bytes)
            case .handshake: .handshake
            case .authorities: .authorities
            case .badAnswer: .badAnswer
            case .tooLarge: .tooLarge
            }
    }
}

extension HTTPHelperFailure.CertificateFault: Transferable {}

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
        self =
            switch try fields.value(bytes) as Kind {
            case .notFound: .notFound
            case .cannotStart: try fields.make(Self.cannotStart, from: bytes)
            case .notConfined: try fields.make(Self.notConfined, from: bytes)
            case .otherVersion: .otherVersion
            case .died: try fields.make(Self.died, from: bytes)
            case .system: try fields.make(Self.system, from: bytes)
            }
    }
}

extension HelperResponse.Problem: Transferable {
    package func write(to output: FrameWriter) { output.append(status, type, retryAfter) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init(status:type:retryAfter:), from: bytes)
    }
}

extension PlainText: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let text: String = try fields.value(bytes)
        self.init(showing: text)
        guard self.text == text else { throw Unreadable() }
    }
}

extension ServerAddress: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let text: String = try fields.value(bytes)
        do { try self.init(parsing: text) } catch { throw Unreadable() }
        guard self.text == text else { throw Unreadable() }
    }
}

extension Token: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make({ (text: String) in Self(text) }, from: bytes)
    }
}
