import Courier
import Testing
import WatchwordSystem

@testable import CommandLineInterface

/// Each sentence about a request names the server and says what to do.
struct CourierMessageTests {
    private static func messages(about url: String) throws -> CourierMessages {
        let server: ServerAddress = try #require(ServerAddress(url))
        return CourierMessages(
            about: server, startedBy: "watchword", trusting: "use --ca-file FILE")
    }

    static let unanswered: [(String, HTTPHelperFailure, String)] = [
        (
            "https://auth.example", .unknownHost,
            "no address is known for the host auth.example; check the server address and the network"
        ),
        (
            "http://localhost:8420", .notLoopback,
            "http://localhost:8420 leads to a different machine, and plain HTTP is allowed only for a "
                + "server on this machine; use https://"
        ),
        (
            "https://auth.example:8443",
            .unreachable(SystemCallFailure(call: "connect", number: 111)),
            "cannot connect to https://auth.example:8443: Connection refused; check the server address, "
                + "and that the server is running"
        ),
        (
            "https://auth.example/a", .timedOut,
            "https://auth.example/a did not respond in time; check that the server is running, and try "
                + "again"
        ),
        (
            "https://auth.example", .connectionLost,
            "the connection to https://auth.example was lost; try again"
        ),
        (
            "http://[::1]:8420", .connectionLost,
            "the connection to http://[::1]:8420 was lost; try again, or use https:// if the server "
                + "uses TLS"
        ),
        (
            "https://auth.example", .handshake,
            "auth.example:443 does not answer with TLS 1.2 or later; check the server address and the "
                + "port"
        ),
        (
            "https://127.0.0.1:8420", .handshake,
            "127.0.0.1:8420 does not answer with TLS 1.2 or later; if the server does not use TLS, use "
                + "http://127.0.0.1:8420"
        ),
        (
            "https://auth.example", .certificate(.unknownAuthority),
            "the certificate of https://auth.example is signed by an unknown authority; nothing was "
                + "sent; if you trust the authority, use --ca-file FILE with its certificate"
        ),
        (
            "https://auth.example", .certificate(.otherHost),
            "the certificate of https://auth.example is for a different host; nothing was sent; check "
                + "the server address"
        ),
        (
            "https://auth.example", .badResponse,
            "the response of https://auth.example is invalid; check that the address is that of a "
                + "Watchword server"
        ),
    ]

    @Test(
        "the message about a request without a response names the server and the next step",
        arguments: unanswered)
    func failed(url: String, failure: HTTPHelperFailure, sentence: String) throws {
        #expect(try Self.messages(about: url).sentence(for: failure) == sentence)
    }

    static let refusals: [(Int, String, Int, String?, String)] = [
        (
            403, "refused-ticket", 0, nil,
            "refused the ticket, which is unknown, already used or expired; request a new one"
        ),
        (
            400, "invalid-field", 0, "ticket",
            "refused the ticket, which is incomplete or mistyped; copy the whole ticket, or request a "
                + "new one"
        ),
        (
            400, "invalid-field", 0, "name",
            "does not understand the request (status 400, urn:watchword:problem:invalid-field, name); "
                + "update the server or this program, whichever is older"
        ),
        (
            401, "unauthenticated", 0, nil,
            "does not recognise this API key, or the key is revoked; ask the server's administrator for a "
                + "new one"
        ),
        (
            404, "not-configured", 0, nil,
            "does not accept device keys; ask its administrator to set --audience"
        ),
        (
            409, "refused-by-state", 0, nil,
            "refused the request (status 409, urn:watchword:problem:refused-by-state)"
        ),
        (
            429, "too-many-requests", 7, nil,
            "received too many requests from this network address; try again in 7 s"
        ),
        (
            503, "unavailable", 1, nil,
            "failed (status 503, urn:watchword:problem:unavailable); try again in 1 s"
        ),
        (502, "", 0, nil, "failed (status 502); try again later"),
        (302, "", 0, nil, "sent a redirect, which is not followed; check the server address"),
        (
            404, "", 0, nil,
            "refused the request (status 404), but not as a Watchword server does; check the server "
                + "address"
        ),
    ]

    @Test(
        "the message about a refused request names the server and the next step",
        arguments: refusals)
    func refused(
        status: Int, kind: String, retryAfter: Int, field: String?, sentence: String
    ) throws {
        let problem = HelperResponse.Problem(
            status: status,
            type: PlainText(showing: kind.isEmpty ? "" : "urn:watchword:problem:\(kind)"),
            retryAfter: retryAfter, field: field.map { PlainText(showing: $0) })
        #expect(
            try Self.messages(about: "https://auth.example").sentence(for: problem)
                == "https://auth.example \(sentence)")
    }
}
