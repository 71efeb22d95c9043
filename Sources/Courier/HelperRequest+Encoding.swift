internal import Cryptography
internal import POSIX

extension HelperRequest {
    private enum Kind: UInt8 {
        case enrolment = 1
        case login
    }

    /// Appends the request in the form that is sent over the pipe.
    func encode(into buffer: WipedBuffer) {
        let fields = FieldWriter(buffer: buffer)
        fields.byte(HelperProtocol.version)
        fields.string(server.text)
        fields.string(authorities.span)
        fields.string(idempotencyKey)
        switch operation {
        case .enrolment(let ticket, let deviceName):
            fields.byte(Kind.enrolment.rawValue)
            fields.string(ticket)
            fields.string(deviceName)
        case .login(let login):
            fields.byte(Kind.login.rawValue)
            fields.string(login.credential.text)
            fields.string(login.secret)
            fields.string(login.nonce.bytes.span)
        }
    }

    /// Whether the request is within the limits of the protocol.
    var fits: Bool {
        guard authorities.count <= HelperProtocol.largestAuthorities else { return false }
        switch operation {
        case .enrolment(let ticket, let deviceName):
            return Token.isToken(ticket) && deviceName.utf8.count <= HelperProtocol.longestText
        case .login(let login):
            return Token.isToken(login.secret)
        }
    }

    /// Reads what ``encode(into:)`` writes; `nil` for anything else.
    public init?(parsing bytes: Span<UInt8>) {
        do { try self.init(reading: bytes) } catch { return nil }
    }

    private init(reading bytes: Span<UInt8>) throws(FieldReader.Unreadable) {
        var fields = FieldReader()
        guard try fields.byte(bytes) == HelperProtocol.version else {
            throw FieldReader.Unreadable()
        }
        let address = try fields.text(bytes)
        do { server = try ServerAddress(parsing: address) } catch {
            throw FieldReader.Unreadable()
        }
        let pem = try fields.string(bytes, limit: HelperProtocol.largestAuthorities)
        authorities = pem.map { bytes[$0] }
        idempotencyKey = try fields.token(bytes).text
        switch Kind(rawValue: try fields.byte(bytes)) {
        case .enrolment:
            let ticket = try fields.secret(bytes)
            operation = .enrolment(ticket: ticket, deviceName: try fields.text(bytes))
        case .login:
            let credential = try fields.token(bytes)
            let secret = try fields.secret(bytes)
            let range = try fields.string(bytes, limit: RotationNonce.count)
            guard let nonce = RotationNonce(range.map { bytes[$0] }) else {
                throw FieldReader.Unreadable()
            }
            operation = .login(Login(credential: credential, secret: secret, nonce: nonce))
        case nil:
            throw FieldReader.Unreadable()
        }
        try fields.finish(bytes)
    }
}
