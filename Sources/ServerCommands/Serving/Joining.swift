import Cryptography
import HTTPListener
import JSONText
import VerificationService

// Where the socket's values become the service's, and back.

extension ServiceRequest {
    init(_ request: ListenerRequest) {
        self.init(
            method: request.method, target: request.target,
            headers: request.headers.map { HTTPField($0.name, $0.value) },
            authorizations: request.authorization.map { [$0] } ?? [], body: request.body,
            peer: request.peer)
    }
}

extension ListenerResponse {
    init(_ response: ServiceResponse) {
        self.init(
            status: response.status,
            headers: response.headers.map { ListenerHeader($0.name, $0.value) },
            body: response.body)
    }

    /// The problem (RFC 9457) that says what the listener refused.
    init(_ refusal: ListenerRefusal, peer: String, _ service: Service) {
        if refusal == .bodyTooLarge {
            let nothing = SecretBytes(copying: [UInt8]().span)
            self.init(
                service.refuseLongBody(
                    ServiceRequest(method: "POST", target: "/", body: nothing, peer: peer)))
            return
        }
        let problem = JSONValue.object([
            ("type", .text("urn:watchword:problem:\(refusal.name)")),
            ("title", .text(refusal.title)), ("status", .number(Int64(refusal.status))),
        ])
        self.init(
            status: refusal.status,
            headers: [
                ListenerHeader("Cache-Control", "no-store"),
                ListenerHeader("X-Content-Type-Options", "nosniff"),
                ListenerHeader("Content-Type", "application/problem+json"),
            ],
            body: problem.rendered())
    }
}

extension ListenerRefusal {
    fileprivate var name: String {
        switch self {
        case .malformed: "malformed-request"
        case .bodyTooLarge: "body-too-large"
        case .unknownExpectation: "unknown-expectation"
        case .headersTooLarge: "headers-too-large"
        case .unknownTransferCoding: "unknown-transfer-coding"
        }
    }

    fileprivate var title: String {
        switch self {
        case .malformed: "The request is not HTTP/1.1 that everybody understands alike."
        case .bodyTooLarge: "The body is longer than 64 KiB."
        case .unknownExpectation: "The only expectation that is met is 100-continue."
        case .headersTooLarge: "The header fields are longer than 16 KiB."
        case .unknownTransferCoding: "The only transfer coding that is understood is chunked."
        }
    }
}
