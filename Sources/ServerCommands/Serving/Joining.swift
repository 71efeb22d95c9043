package import HTTPListener
package import VerificationService

// Conversions between the listener's types and the service's.

extension ServiceRequest {
    /// Converts a request of the listener.
    package init(_ request: ListenerRequest) {
        self.init(
            method: request.method, target: request.target,
            headers: request.headers.map { HTTPField($0.name, $0.value) },
            authorizations: request.authorization.map { [$0] } ?? [], body: request.body,
            peer: request.peer)
    }
}

extension ListenerResponse {
    /// Converts a response of the service.
    package init(_ response: ServiceResponse) {
        self.init(
            status: response.status,
            headers: response.headers.map { ListenerHeader($0.name, $0.value) },
            body: response.body)
    }

    /// The service's problem (RFC 9457) for a request that the listener rejected.
    package init(_ refusal: ListenerRefusal, peer: String, _ service: Service) {
        self.init(service.refuse(UnreadableRequest(refusal), peer: peer))
    }
}

extension UnreadableRequest {
    fileprivate init(_ refusal: ListenerRefusal) {
        self =
            switch refusal {
            case .malformed: .malformed
            case .lengthRequired: .lengthRequired
            case .bodyTooLarge: .bodyTooLarge
            case .unknownExpectation: .unknownExpectation
            case .headersTooLarge: .headersTooLarge
            case .unknownTransferCoding: .unknownTransferCoding
            case .refusedByLibrary: .refusedByLibrary
            }
    }
}
