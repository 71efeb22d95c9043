package import WatchwordSystem

/// What the helper replies: the response, or why there is none.
struct Reply: Transferable {
    let result: Result<HelperResponse, HTTPHelperFailure>

    init(_ result: Result<HelperResponse, HTTPHelperFailure>) { self.result = result }

    func write(to output: FrameWriter) { output.append(HelperProtocol.version, result) }

    init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        guard try fields.byte(bytes) == HelperProtocol.version else { throw Unreadable() }
        result = try fields.value(bytes)
        switch result {
        // Only this side can report these.
        case .failure(.helper(.notFound)), .failure(.helper(.cannotStart)),
            .failure(.helper(.died)):
            throw Unreadable()
        default: break
        }
    }
}

extension HelperResponse: Transferable {
    private enum Kind: UInt8, Transferable {
        case enrolled, accepted, registered, keyToActivate, keyActivated, challenge, signed
        case denied, problem
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .enrolled(let credential, let handed):
            output.append(Kind.enrolled, credential, handed)
        case .accepted(let acceptance): output.append(Kind.accepted, acceptance)
        case .registered(let credential, let custody):
            output.append(Kind.registered, credential, custody)
        case .keyToActivate(let credential, let activation):
            output.append(Kind.keyToActivate, credential, activation)
        case .keyActivated: output.append(Kind.keyActivated)
        case .challenge(let challenge): output.append(Kind.challenge, challenge)
        case .signed(let accepted): output.append(Kind.signed, accepted)
        case .denied(let wipe): output.append(Kind.denied, wipe)
        case .problem(let problem): output.append(Kind.problem, problem)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        switch try fields.value(bytes) as Kind {
        case .enrolled: self = try fields.make(Self.enrolled, from: bytes)
        case .accepted: self = try fields.make(Self.accepted, from: bytes)
        case .registered: self = try fields.make(Self.registered, from: bytes)
        case .keyToActivate: self = try fields.make(Self.keyToActivate, from: bytes)
        case .keyActivated: self = .keyActivated
        case .challenge: self = try fields.make(Self.challenge, from: bytes)
        case .signed: self = try fields.make(Self.signed, from: bytes)
        case .denied: self = try fields.make(Self.denied, from: bytes)
        case .problem: self = try fields.make(Self.problem, from: bytes)
        }
    }
}

extension HelperResponse.WipeOrder: Transferable {}

extension HelperResponse.NextSecret: Transferable {
    package func write(to output: FrameWriter) { output.append(secret, generation) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        secret = try fields.secretToken(bytes)
        generation = try fields.value(bytes)
    }
}

extension HelperResponse.Acceptance: Transferable {
    package func write(to output: FrameWriter) {
        output.append(verification, login, expiresAt, next)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        verification = try fields.value(bytes)
        login = try fields.secretToken(bytes)
        expiresAt = try fields.value(bytes)
        next = try fields.value(bytes)
    }
}

extension HelperResponse.KeyChallenge: Transferable {
    package func write(to output: FrameWriter) { output.append(token, expiry) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self = try fields.make(Self.init, from: bytes)
    }
}

extension HelperResponse.AcceptedSignature: Transferable {
    package func write(to output: FrameWriter) {
        output.append(verification, login, expiresAt)
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        verification = try fields.value(bytes)
        login = try fields.secretToken(bytes)
        expiresAt = try fields.value(bytes)
    }
}

extension HelperResponse.Problem: Transferable {
    package func write(to output: FrameWriter) {
        output.append(UInt16(clamping: status), type, UInt32(clamping: retryAfter))
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        status = Int(try fields.value(bytes) as UInt16)
        type = try fields.value(bytes)
        retryAfter = Int(try fields.value(bytes) as UInt32)
    }
}

extension PlainText: Transferable {
    package func write(to output: FrameWriter) { output.append(text) }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        let text = try fields.text(bytes, limit: PlainText.longest)
        self.init(showing: text)
        guard self.text == text else { throw Unreadable() }
    }
}
