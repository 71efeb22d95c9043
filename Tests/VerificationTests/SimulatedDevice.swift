import WatchwordCryptography

@testable import Verification

/// The device side of an enrolled secret (EnrolledSecrets.md).
///
/// The value is the content of the device's disk, so a copy of the value is a copy of the disk.
struct SimulatedDevice: Sendable {
    /// A login as sent over the network.
    struct Request: Sendable {
        let credential: CredentialID
        let secret: Token
        let nonce: RotationNonce
    }

    let credential: CredentialID
    /// The secret that has worked, or the first one.
    private(set) var current: Token
    /// The secret from the last response.
    ///
    /// The device presents it first, and keeps the current one until the new one has worked.
    private(set) var next: Token?
    /// Stored before it is sent.
    private(set) var nonce: RotationNonce?
    private(set) var wiped: WipeReason?

    init(credential: CredentialID, secret: Token) {
        self.credential = credential
        current = secret
    }

    /// Stores the nonce, unless an earlier one still waits for its response.
    mutating func prepare(_ fresh: RotationNonce) { if nonce == nil { nonce = fresh } }

    /// The request to send; `nil` before ``prepare(_:)``.
    var request: Request? {
        nonce.map { Request(credential: credential, secret: next ?? current, nonce: $0) }
    }

    /// Stores the result of a response, if it belongs to the current request.
    mutating func receive(_ outcome: LoginOutcome, to asked: Request) {
        guard let request, request.nonce == asked.nonce,
            request.secret.bytes == asked.secret.bytes
        else { return }
        switch outcome.result {
        case .accepted(let acceptance):
            current = asked.secret
            next = acceptance.secret
            nonce = nil
        case .denied(let wipe):
            if let wipe { wiped = wipe }
        }
    }
}
