public import POSIX

/// Why there is no answer.
public enum CourierFailure: Error, Hashable, Sendable {
    // The courier itself.
    /// The program is not where it was put.
    case notFound
    /// The program did not start.
    case cannotStart(SystemCallFailure)
    /// The system does not let the program give up what it must not have.
    case notConfined(SystemCallFailure)
    /// The program is of another version.
    case otherVersion
    /// The program ended without a word.
    case died(ChildProcess.Ending)
    /// The system refused something else.
    case system(SystemCallFailure)
    /// A library could not do its work; its own code.
    case library(code: Int32)

    // The way to the server.
    /// The host's name leads nowhere.
    case unknownHost
    /// The host's name leads to another machine, where plain HTTP is not spoken.
    case notLoopback
    /// Nobody listens there, or no way leads there.
    case unreachable(SystemCallFailure)
    /// It took too long.
    case timedOut
    /// The connection broke.
    case connectionLost

    // Who answers there.
    /// The server's certificate is not to be trusted.
    case certificate(CertificateFault)
    /// TLS did not come about.
    case handshake
    /// There are no authorities to go by, or the file of them holds none.
    case authorities
    /// What came back is no HTTP, or no JSON, or does not answer the question.
    case badAnswer
    /// The answer is over a limit.
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
