internal import WatchwordCryptography
internal import WatchwordSystem

/// What the helper replies: the response, or why there is none.
typealias Reply = Result<HelperResponse, HTTPHelperFailure>

extension Result where Success == HelperResponse, Failure == HTTPHelperFailure {
    private enum Kind: UInt8 {
        case failure, enrolled, accepted, denied, problem, registered, challenge, signed
        case keyToActivate, keyActivated
    }

    /// The reply in the form that is sent over the pipe.
    func encoded() throws(SystemCallFailure) -> WipedBuffer {
        let fields = FieldWriter(
            buffer: try WipedBuffer(capacity: HelperProtocol.largestReply))
        fields.byte(HelperProtocol.version)
        switch self {
        case .failure(let failure):
            fields.byte(Kind.failure.rawValue)
            let (code, number, call) = failure.encoded
            fields.byte(code.rawValue)
            fields.number(UInt64(UInt32(bitPattern: number)), width: 4)
            fields.string(PlainText(showing: call).text)
        case .success(.enrolled(let credential, let handed)):
            fields.byte(Kind.enrolled.rawValue)
            fields.string(credential.text)
            fields.string(handed.secret)
            fields.number(handed.generation, width: 8)
        case .success(.accepted(let acceptance)):
            fields.byte(Kind.accepted.rawValue)
            fields.string(acceptance.verification.text)
            fields.string(acceptance.login)
            fields.string(acceptance.expiresAt.text)
            fields.string(acceptance.next.secret)
            fields.number(acceptance.next.generation, width: 8)
        case .success(.denied(let wipe)):
            fields.byte(Kind.denied.rawValue)
            fields.byte(wipe?.rawValue ?? 0)
        case .success(.registered(let credential, let custody)):
            fields.byte(Kind.registered.rawValue)
            fields.string(credential.text)
            fields.string(custody.text)
        case .success(.keyToActivate(let credential, let activation)):
            fields.byte(Kind.keyToActivate.rawValue)
            fields.string(credential.text)
            fields.string(activation.blob.span)
            fields.string(activation.seed.span)
        case .success(.keyActivated):
            fields.byte(Kind.keyActivated.rawValue)
        case .success(.challenge(let challenge)):
            fields.byte(Kind.challenge.rawValue)
            fields.string(challenge.token.text)
            fields.number(challenge.expiry, width: 8)
        case .success(.signed(let accepted)):
            fields.byte(Kind.signed.rawValue)
            fields.string(accepted.verification.text)
            fields.string(accepted.login)
            fields.string(accepted.expiresAt.text)
        case .success(.problem(let problem)):
            fields.byte(Kind.problem.rawValue)
            fields.number(UInt64(clamping: problem.status), width: 2)
            fields.string(problem.type.text)
            fields.number(UInt64(UInt32(clamping: problem.retryAfter)), width: 4)
        }
        return fields.buffer
    }

    /// Reads what ``encoded()`` returns; `nil` if any byte breaks the protocol.
    init?(parsing bytes: Span<UInt8>) {
        do { try self.init(reading: bytes) } catch { return nil }
    }

    private init(reading bytes: Span<UInt8>) throws(FieldReader.Unreadable) {
        var fields = FieldReader()
        guard try fields.byte(bytes) == HelperProtocol.version else {
            self = .failure(.helper(.otherVersion))
            return
        }
        switch Kind(rawValue: try fields.byte(bytes)) {
        case .failure:
            let code = FailureCode(rawValue: try fields.byte(bytes))
            let bits = UInt32(truncatingIfNeeded: try fields.number(bytes, width: 4))
            let call = try fields.plain(bytes).text
            guard let code,
                let failure = HTTPHelperFailure(code, number: Int32(bitPattern: bits), call: call)
            else { throw FieldReader.Unreadable() }
            self = .failure(failure)
        case .enrolled:
            let credential = try fields.token(bytes)
            self = .success(.enrolled(credential: credential, try Self.handed(&fields, bytes)))
        case .accepted:
            let verification = try fields.token(bytes)
            let login = try fields.secret(bytes)
            let expiry = try fields.plain(bytes)
            self = .success(
                .accepted(
                    HelperResponse.Acceptance(
                        verification: verification, login: login, expiresAt: expiry,
                        next: try Self.handed(&fields, bytes))))
        case .denied:
            let byte = try fields.byte(bytes)
            let wipe = HelperResponse.WipeOrder(rawValue: byte)
            guard wipe != nil || byte == 0 else { throw FieldReader.Unreadable() }
            self = .success(.denied(wipe: wipe))
        case .problem:
            let status = Int(try fields.number(bytes, width: 2))
            let type = try fields.plain(bytes)
            let wait = Int(try fields.number(bytes, width: 4))
            self = .success(
                .problem(HelperResponse.Problem(status: status, type: type, retryAfter: wait)))
        case .registered:
            let credential = try fields.token(bytes)
            self = .success(.registered(credential: credential, custody: try fields.token(bytes)))
        case .keyToActivate:
            let credential = try fields.token(bytes)
            let blob = try fields.string(bytes, limit: KeyActivation.largestBlob)
            let seed = try fields.string(bytes, limit: KeyActivation.largestSeed)
            let activation = KeyActivation(
                blob: blob.map { bytes[$0] }, seed: seed.map { bytes[$0] })
            guard let activation else { throw FieldReader.Unreadable() }
            self = .success(.keyToActivate(credential: credential, activation))
        case .keyActivated: self = .success(.keyActivated)
        case .challenge:
            let token = try fields.token(bytes)
            self = .success(
                .challenge(
                    HelperResponse.KeyChallenge(
                        token: token, expiry: try fields.number(bytes, width: 8))))
        case .signed:
            let verification = try fields.token(bytes)
            let login = try fields.secret(bytes)
            self = .success(
                .signed(
                    HelperResponse.AcceptedSignature(
                        verification: verification, login: login,
                        expiresAt: try fields.plain(bytes))))
        case nil:
            throw FieldReader.Unreadable()
        }
        try fields.finish(bytes)
    }

    private static func handed(
        _ fields: inout FieldReader, _ bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) -> HelperResponse.NextSecret {
        let secret = try fields.secret(bytes)
        return HelperResponse.NextSecret(
            secret: secret, generation: try fields.number(bytes, width: 8))
    }
}

/// The failures that the helper reports itself.
enum FailureCode: UInt8 {
    case notConfined, otherVersion, system, library
    case unknownHost, notLoopback, unreachable, timedOut, connectionLost
    case certificate, handshake, authorities, badAnswer, tooLarge
}

extension HTTPHelperFailure {
    fileprivate var encoded: (FailureCode, number: Int32, call: String) {
        switch self {
        case .helper(.notConfined(let failure)): (.notConfined, failure.number, failure.call)
        case .helper(.system(let failure)): (.system, failure.number, failure.call)
        case .unreachable(let failure): (.unreachable, failure.number, failure.call)
        case .library(let code): (.library, code, "")
        case .certificate(let fault): (.certificate, Int32(fault.rawValue), "")
        case .helper(.otherVersion): (.otherVersion, 0, "")
        case .unknownHost: (.unknownHost, 0, "")
        case .notLoopback: (.notLoopback, 0, "")
        case .timedOut: (.timedOut, 0, "")
        case .connectionLost: (.connectionLost, 0, "")
        case .handshake: (.handshake, 0, "")
        case .authorities: (.authorities, 0, "")
        case .badAnswer: (.badAnswer, 0, "")
        case .tooLarge: (.tooLarge, 0, "")
        // Only this side can report these.
        case .helper(.notFound), .helper(.cannotStart), .helper(.died): (.system, 0, "")
        }
    }

    fileprivate init?(_ code: FailureCode, number: Int32, call: String) {
        let failure = SystemCallFailure(call: call, number: number)
        switch code {
        case .notConfined: self = .helper(.notConfined(failure))
        case .otherVersion: self = .helper(.otherVersion)
        case .system: self = .helper(.system(failure))
        case .library: self = .library(code: number)
        case .unknownHost: self = .unknownHost
        case .notLoopback: self = .notLoopback
        case .unreachable: self = .unreachable(failure)
        case .timedOut: self = .timedOut
        case .connectionLost: self = .connectionLost
        case .certificate:
            guard let byte = UInt8(exactly: number), let fault = CertificateFault(rawValue: byte)
            else { return nil }
            self = .certificate(fault)
        case .handshake: self = .handshake
        case .authorities: self = .authorities
        case .badAnswer: self = .badAnswer
        case .tooLarge: self = .tooLarge
        }
    }
}
