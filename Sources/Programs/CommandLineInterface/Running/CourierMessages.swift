package import Courier

/// The messages about requests to servers that `watchword` and `watchword-server` print.
package enum CourierMessages {
    /// The sentence for a request without a response.
    ///
    /// - Parameter starter: The program that starts the courier.
    package static func sentence(
        for failure: HTTPHelperFailure, startedBy starter: String
    ) -> String {
        switch failure {
        case .helper(let failure):
            HelperMessages.sentence(
                for: failure, of: "watchword-courier", startedBy: starter,
                unconfined: "nothing was sent")
        case .library(let code): "libcurl failed (\(code))"
        case .unknownHost: "unknown host; check the URL and the network"
        case .notLoopback: "plain HTTP is allowed only for a server on this machine; use https://"
        case .unreachable(let failure):
            "cannot connect to the server: " + HelperMessages.sentence(for: failure)
        case .timedOut: "the server did not respond in time; try again"
        case .connectionLost: "the connection was lost; try again"
        case .certificate(let fault):
            "the server's certificate \(describe(fault)); nothing was sent"
        case .handshake: "the server does not support TLS 1.2 or later"
        case .authorities: "no certificate authorities found; use --ca-file"
        case .badResponse:
            "the response is invalid; check that the URL belongs to a Watchword server"
        case .tooLarge: "the server's response is too large"
        }
    }

    private static func describe(_ fault: HTTPHelperFailure.CertificateFault) -> String {
        switch fault {
        case .unknownAuthority: "is signed by an unknown authority"
        case .expired: "has expired"
        case .notYetValid: "is not valid yet (check the clock)"
        case .otherHost: "is for another host"
        case .other: "is not trusted"
        }
    }

    /// The sentence for a response that is a problem.
    package static func sentence(for problem: HelperResponse.Problem) -> String {
        let type = problem.type.text.isEmpty ? "" : " (\(problem.type.text))"
        let wait = problem.retryAfter > 0 ? "; try again in \(problem.retryAfter) s" : ""
        let what =
            switch problem.status {
            case 300..<400: "the server sent a redirect, which is not followed"
            case 429: "the server received too many requests"
            case 500...: "the server failed"
            default: "the server refused the request"
            }
        return "\(what): status \(problem.status)\(type)\(wait)"
    }

    /// The valid form of a server's URL.
    package static func expectation(of part: ServerAddress.Part) -> String {
        switch part {
        case .scheme: "a URL that begins with https://"
        case .plain: "an https:// URL; http:// is allowed only for a server on this machine"
        case .host: "a URL with an ASCII host name"
        case .port: "a URL with a port from 1 to 65535"
        case .path: "a URL without a query, and without escapes or empty parts in its path"
        case .length: "a URL of at most 512 bytes"
        }
    }
}

extension ExitCode {
    /// The exit status for a request that was not answered.
    package init(_ failure: HTTPHelperFailure) {
        if case .authorities = failure { self = .badInput } else { self = .system }
    }
}
