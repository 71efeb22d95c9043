public import WatchwordSystem

/// Why there is no response.
public enum HTTPHelperFailure: Error, Hashable, Sendable {
    // The helper itself.
    /// The program did not do its work.
    case helper(HelperFailure)
    /// A library failed, with its own code.
    case library(code: Int32)

    // The connection to the server.
    /// The host name cannot be resolved.
    case unknownHost
    /// The host is not this machine, and plain HTTP is allowed only to this machine.
    case notLoopback
    /// The server is not listening, or cannot be reached.
    case unreachable(SystemCallFailure)
    /// The timeout expired.
    case timedOut
    /// The connection was lost.
    case connectionLost

    // The server.
    /// The server's certificate cannot be trusted.
    case certificate(CertificateFault)
    /// The TLS handshake failed.
    case handshake
    /// There are no trusted authorities, or their file contains none.
    case authorities
    /// The response is not HTTP, not JSON, or not a response to the request.
    case badAnswer
    /// The response exceeds a size limit.
    case tooLarge

    /// What is wrong with a certificate.
    public enum CertificateFault: UInt8, CaseIterable, Hashable, Sendable {
        case unknownAuthority = 1
        case expired
        case notYetValid
        case otherHost
        case other
    }
}

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
        switch try fields.value(bytes) as Kind {
        case .helper: self = try fields.make(Self.helper, from: bytes)
        case .library: self = try fields.make(Self.library, from: bytes)
        case .unknownHost: self = .unknownHost
        case .notLoopback: self = .notLoopback
        case .unreachable: self = try fields.make(Self.unreachable, from: bytes)
        case .timedOut: self = .timedOut
        case .connectionLost: self = .connectionLost
        case .certificate: self = try fields.make(Self.certificate, from: bytes)
        case .handshake: self = .handshake
        case .authorities: self = .authorities
        case .badAnswer: self = .badAnswer
        case .tooLarge: self = .tooLarge
        }
    }
}

extension HTTPHelperFailure.CertificateFault: Transferable {}
