public import WatchwordSystem

// The protocol between `watchword` and `watchword-courier`, in frames (see `IncomingFrame`).
//
// - watchword → helper, once: a ``HelperRequest``.
// - helper → watchword, once: a ``ResponseFrame``.

/// The limits that both ends observe.
enum HelperProtocol {
    static let version: UInt8 = 8
    /// The maximum length of a request in bytes; most of it is certificates.
    static let largestRequest = 1 << 18
    /// The maximum length of a response to a device in bytes.
    static let largestResponse = 1 << 12
    /// The maximum length of an application's request target and of its body in bytes.
    static let longestTarget = 4 << 10
    /// The maximum length in bytes of the authorities' certificates in a request.
    static let largestAuthorities = 1 << 17
    static let longestText = 1 << 10
    /// The maximum length of a public key or a signature in bytes.
    static let longestKey = 128
}

/// Sends a request to a server and returns its response.
public protocol RequestSender {
    /// Sends `request` without retries; throws if no valid response arrives.
    mutating func send(_ request: HelperRequest) throws(HTTPHelperFailure) -> HelperResponse
}

/// Starts `watchword-courier`, one process per request, and validates every response.
///
/// The helper has one connection, to the given server, and no access to files or to the vault's
/// memory. Only the helper parses a server's TLS, HTTP and JSON.
public struct HTTPHelper: RequestSender, Sendable {
    private let path: String
    private let timeout: Duration

    /// Sets the program to start.
    ///
    /// - Parameters:
    ///   - path: the program; by default, `watchword-courier` beside the running program, or in
    ///     `../libexec/watchword/`, where an installation puts it.
    ///   - timeout: for the whole request; must exceed the helper's own timeouts for connecting and
    ///     for the exchange.
    /// - Throws: ``HelperFailure/notFound`` if no path is given and the program is not found.
    public init(
        path: String? = nil, timeout: Duration = .seconds(60)
    ) throws(HTTPHelperFailure) {
        guard let path = path ?? RunningProgram.companion("watchword-courier") else {
            throw .helper(.notFound)
        }
        self.path = path
        self.timeout = timeout
    }

    /// Sends one request.
    ///
    /// The calling thread must outlive the call: the kernel kills the helper when that thread ends.
    public func send(_ request: HelperRequest) throws(HTTPHelperFailure) -> HelperResponse {
        precondition(request.fits, "the request exceeds the limits of the protocol")
        let limits = HelperProcess.Limits(
            greeting: nil, frame: request.operation.largestResponse,
            outgoing: 4 + HelperProtocol.largestRequest)
        let helper: HelperProcess
        do throws(HelperFailure) {
            helper = try HelperProcess(running: path, limits: limits, timeout: timeout)
        } catch {
            throw .helper(error)
        }
        var connection = OwnHelperConnection(helper, timeout: timeout)
        return try HTTPHelper.exchange(request, over: &connection)
    }

    /// Sends one request to the helper at the other end of `connection`, a non-blocking socket that
    /// is its standard input and output.
    package static func send(
        _ request: HelperRequest, over connection: borrowing FileDescriptor,
        timeout: Duration = .seconds(60)
    ) throws(HTTPHelperFailure) -> HelperResponse {
        precondition(request.fits, "the request exceeds the limits of the protocol")
        var lent = try HTTPHelperFailure.system(
            in: LentHelperConnection(
                connection, limit: request.operation.largestResponse, timeout: timeout))
        return try exchange(request, over: &lent)
    }

    /// Sends the request and waits for the response.
    private static func exchange(
        _ request: HelperRequest, over connection: inout some HelperConnection
    ) throws(HTTPHelperFailure) -> HelperResponse {
        try HTTPHelperFailure.system(in: connection.send(request))
        switch try HTTPHelperFailure.system(in: connection.receive()) {
        case .timedOut: throw .timedOut
        case .ended: throw .helper(.died(connection.ending()))
        case .malformed: throw .badResponse
        case .frame(let frame):
            guard frame.withBytes({ $0[0] }) == HelperProtocol.version else {
                throw .helper(.otherVersion)
            }
            guard let response = frame.value(as: ResponseFrame.self) else { throw .badResponse }
            return try response.result.get()
        }
    }
}

/// The reason why there is no response.
public enum HTTPHelperFailure: SystemCallError, Hashable, Sendable {
    // The helper itself.
    /// The program did not complete its work.
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
    case badResponse
    /// The response exceeds a size limit.
    case tooLarge

    /// The fault of a certificate.
    public enum CertificateFault: UInt8, CaseIterable, Hashable, Sendable {
        /// No trusted authority issued the certificate.
        case unknownAuthority = 1
        /// The certificate has expired.
        case expired
        /// The certificate is not valid yet, or the clock is wrong.
        case notYetValid
        /// The certificate was issued for a different host.
        case otherHost
        /// OpenSSL reported a different reason.
        case other
    }
}

extension HTTPHelperFailure {
    /// A system call failed in this process.
    package static func system(_ failure: SystemCallFailure) -> Self { .helper(.system(failure)) }
}

extension HTTPHelperFailure: Transferable {
    private enum Kind: UInt8, Transferable {
        case helper, library, unknownHost, notLoopback, unreachable, timedOut, connectionLost
        case certificate, handshake, authorities, badResponse, tooLarge
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
        case .badResponse: output.append(Kind.badResponse)
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
        case .badResponse: self = .badResponse
        case .tooLarge: self = .tooLarge
        }
    }
}

extension HTTPHelperFailure.CertificateFault: Transferable {}
