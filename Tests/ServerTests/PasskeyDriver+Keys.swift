import ServiceTranscripts
import WatchwordCoding

extension PasskeyDriver {
    /// Issues a ticket with which a device registers its key.
    func keyTicket(for subject: String) async throws -> String {
        try Self.member(
            "ticket",
            try await send(
                .application, "/v1/subjects/\(subject)/credentials", #"{"type":"key"}"#))
    }

    /// Registers a device key with this body.
    func registerKey(_ body: String) async throws -> Reply {
        try await send(.page, "/v1/device/keys", body)
    }

    /// Registers a device key, and returns its credential.
    func register(_ key: SampleDeviceKey, for subject: String) async throws -> String {
        try await register(key, ticket: try await keyTicket(for: subject))
    }

    /// Registers a device key with this ticket, and returns its credential.
    @discardableResult
    func register(_ key: SampleDeviceKey, ticket: String) async throws -> String {
        let reply = try await registerKey(
            #"{"ticket":"\#(ticket)","public_key":"\#(key.pointText)","#
                + #""signature":"\#(try key.enrolment(ticket))","presence":"cryptographic"}"#)
        return try Self.member("credential", reply)
    }

    /// Requests a challenge for a device key; returns its token and the time when it expires.
    func challenge(_ credential: String) async throws -> (token: String, expiry: UInt64) {
        let reply = try await send(
            .page, "/v1/device/challenges", #"{"credential":"\#(credential)"}"#)
        return (
            try Self.member("challenge", reply), reply.json?["expires_ms"]?.wholeNumber ?? 0
        )
    }

    /// The body of a request with a key's signature of a challenge.
    static func body(
        _ challenge: (token: String, expiry: UInt64), _ key: SampleDeviceKey, of credential: String
    ) throws -> String {
        let signature = try key.signature(
            of: challenge.token, expiry: challenge.expiry, by: credential)
        return #"{"credential":"\#(credential)","challenge":"\#(challenge.token)","#
            + #""audience":"\#(key.audience)","purpose":"sign-in","#
            + #""presence":"cryptographic","signature":"\#(signature)"}"#
    }

    func finish(
        _ challenge: (token: String, expiry: UInt64), _ key: SampleDeviceKey, of credential: String
    ) async throws -> Reply {
        try await send(
            .page, "/v1/device/signatures", Self.body(challenge, key, of: credential))
    }

    /// Signs in with a device key.
    func signIn(_ key: SampleDeviceKey, of credential: String) async throws -> Reply {
        try await finish(try await challenge(credential), key, of: credential)
    }

    /// Completes the registration of a key in a TPM.
    func activate(_ credential: String, _ secret: String) async throws -> Reply {
        try await send(
            .page, "/v1/device/keys/activation",
            #"{"credential":"\#(credential)","secret":"\#(secret)"}"#)
    }
}
