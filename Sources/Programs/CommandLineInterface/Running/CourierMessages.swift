package import Courier
import WatchwordSystem

/// The messages about requests to one server.
package struct CourierMessages: Sendable {
    /// The server; `nil` if the request was decided in this process.
    let server: ServerAddress?
    /// The program that starts the courier.
    let starter: String
    /// The advice for trusting the certificate of an authority, such as “use --ca-file FILE”.
    let trusting: String

    package init(about server: ServerAddress?, startedBy starter: String, trusting: String) {
        self.server = server
        self.starter = starter
        self.trusting = trusting
    }

    /// The sentence for a request without a response.
    package func sentence(for failure: HTTPHelperFailure) -> String {
        switch failure {
        case .helper(let failure):
            HelperMessages.sentence(
                for: failure, of: "watchword-courier", startedBy: starter,
                unconfined: "nothing was sent")
        case .library(let code): "the request to \(name) failed in libcurl (\(code))"
        case .unknownHost:
            "no address is known for the host \(server?.host ?? ""); check the server address and the "
                + "network" + proxyNote
        case .notLoopback:
            "\(name) leads to a different machine, and plain HTTP is allowed only for a server on this "
                + "machine; use https://"
        case .unreachable(let failure):
            "cannot connect to \(name): \(failure.reason); check the server address, and that the "
                + "server is running" + proxyNote
        case .timedOut:
            "\(name) did not respond in time; check that the server is running, and try again"
                + proxyNote
        case .connectionLost:
            "the connection to \(name) was lost; try again"
                + (server?.scheme == .http ? ", or use https:// if the server uses TLS" : "")
        case .certificate(let fault):
            "the certificate of \(name) \(describe(fault))"
        case .handshake: "\(place) does not answer with TLS 1.2 or later; \(withoutTLS)"
        case .authorities:
            "no certificate authorities found; \(trusting) with PEM certificates, or install the package "
                + "ca-certificates"
        case .badResponse:
            "the response of \(name) is invalid; check that the address is that of a Watchword server"
        case .tooLarge:
            "the response of \(name) is too large; check that the address is that of a Watchword server"
        }
    }

    private var name: String { server?.text ?? "the server" }

    private var place: String {
        server.map { "\($0.bracketedHost):\($0.port)" } ?? name
    }

    private var withoutTLS: String {
        server?.isThisMachine == true
            ? "if the server does not use TLS, use http://\(place)"
            : "check the server address and the port"
    }

    /// The note about a configured proxy, which the courier does not use.
    private var proxyNote: String {
        let variables = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        guard server?.scheme == .https,
            let set = variables.first(where: { Environment.value($0) != nil })
        else { return "" }
        return "; the proxy in $\(set) is not used"
    }

    private func describe(_ fault: HTTPHelperFailure.CertificateFault) -> String {
        switch fault {
        case .unknownAuthority:
            "is signed by an unknown authority; nothing was sent; if you trust the authority, \(trusting) "
                + "with its certificate"
        case .expired:
            "has expired; nothing was sent; ask the server's administrator to renew it"
        case .notYetValid: "is not valid yet; nothing was sent; check this machine's clock"
        case .otherHost: "is for a different host; nothing was sent; check the server address"
        case .other: "is not trusted; nothing was sent; ask the server's administrator"
        }
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

// Responses that report problems.
extension CourierMessages {
    /// The sentence for a response that reports a problem.
    package func sentence(for problem: HelperResponse.Problem) -> String {
        switch (problem.kind, problem.field?.text) {
        case ("refused-ticket", _):
            "\(name) refused the ticket, which is unknown, already used or expired; request a new one"
        case ("invalid-field", "ticket"):
            "\(name) refused the ticket, which is incomplete or mistyped; copy the whole ticket, or "
                + "request a new one"
        case ("idempotency-key-reused", _):
            "the ticket was already sent with a different --device-name or --this-device; use the same "
                + "options again, or request a new ticket"
        case ("answer-ended", _):
            "\(name) sends a secret only once, and the one for this ticket has been used or revoked "
                + "since; request a new ticket"
        case ("refused-key", _):
            "\(name) refused the key: this address is not one of the server's addresses (--audience), the "
                + "server requires a stronger presence check, or it does not trust the TPM (--tpm-roots); "
                + "ask its administrator"
        case ("not-configured", _):
            "\(name) does not accept device keys; ask its administrator to set --audience"
        case ("unauthenticated", _):
            "\(name) does not recognise this API key, or the key is revoked; ask the server's administrator for a "
                + "new one"
        case ("missing-scope", _):
            "the API key lacks a scope that \(name) requires for this request"
        case ("foreign-subject", _): "the API key is limited to other subjects"
        case ("unknown-route", _), ("unknown-field", _), ("missing-field", _), ("invalid-field", _),
            ("malformed-body", _):
            "\(name) does not understand the request (\(details(of: problem))); update the server or "
                + "this program, whichever is older"
        default: sentence(forOther: problem)
        }
    }

    private func sentence(forOther problem: HelperResponse.Problem) -> String {
        let wait =
            problem.retryAfter > 0 ? "try again in \(problem.retryAfter) s" : "try again later"
        return switch problem.status {
        case 300..<400:
            "\(name) sent a redirect, which is not followed; check the server address"
        case 429: "\(name) received too many requests from this network address; \(wait)"
        case 500...: "\(name) failed (\(details(of: problem))); \(wait)"
        case _ where problem.kind == nil:
            "\(name) refused the request (\(details(of: problem))), but not as a Watchword server does; "
                + "check the server address"
        default: "\(name) refused the request (\(details(of: problem)))"
        }
    }

    private func details(of problem: HelperResponse.Problem) -> String {
        let facts = [problem.type, problem.field].compactMap { $0?.text }
        return (["status \(problem.status)"] + facts.filter { !$0.isEmpty })
            .joined(separator: ", ")
    }
}

extension HelperResponse.Problem {
    private static let prefix = "urn:watchword:problem:"

    /// The name of the problem; `nil` if a Watchword server did not send it.
    package var kind: String? {
        type.text.hasPrefix(Self.prefix) ? String(type.text.dropFirst(Self.prefix.count)) : nil
    }
}

extension ExitCode {
    /// The exit status for a request that was not answered.
    package init(_ failure: HTTPHelperFailure) {
        if case .authorities = failure { self = .badInput } else { self = .system }
    }
}
