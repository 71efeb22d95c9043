import TestSupport
import Testing
import WatchwordCryptography

@testable import LocalSockets

/// A message in `Vectors/login/messages.json`, and its fields.
private struct MessageVector: Codable, Sendable {
    let message: String
    let valid: Bool
    let why: String
    /// The bytes at these offsets; all others are zero.
    let parts: [String: String]
    let operation: String?
    let reasons: Bool?
    let service: String?
    let user: String?
    let remoteHost: String?
    let code: String?
    let verdict: String?
    let reason: String?
    let wait: UInt32?

    static func all(_ message: String) throws -> [MessageVector] {
        try VectorFile<MessageVector>("login/messages.json").cases.filter { $0.message == message }
    }

    /// The encoded message.
    func bytes(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        for (offset, text) in parts {
            let start = try #require(Int(offset))
            let part = try Hex.bytes(text)
            bytes.replaceSubrange(start..<(start + part.count), with: part)
        }
        return bytes
    }

    var response: LoginResponse? {
        switch (verdict, reason) {
        case ("accepted", nil): .accepted
        case ("denied", nil): .denied(nil)
        case ("denied", "replayed"): .denied(.replayed)
        case ("denied", "mustWait"): .denied(.mustWait(seconds: wait ?? 0))
        case ("denied", "locked"): .denied(.locked)
        case ("denied", "malformed"): .denied(.malformed)
        case ("unavailable", nil): .unavailable
        case ("neverEnrolled", nil): .neverEnrolled
        case ("enrolled", nil): .enrolled
        default: nil
        }
    }
}

@Suite("Messages of the login protocol")
struct LoginMessageTests {
    @Test("valid requests decode as in the vectors, and invalid requests are refused")
    func requests() throws {
        let vectors = try MessageVector.all("request")
        #expect(vectors.contains { $0.valid } && vectors.contains { !$0.valid })
        for vector in vectors {
            let bytes = try vector.bytes(LoginRequest.count)
            let request = LoginRequest(bytes.span)
            #expect((request != nil) == vector.valid, "\(vector.why)")
            guard let request else { continue }
            #expect(request.wantsReasons == vector.reasons, "\(vector.why)")
            #expect(request.service == vector.service, "\(vector.why)")
            #expect(request.user == vector.user, "\(vector.why)")
            #expect(request.remoteHost == vector.remoteHost, "\(vector.why)")
            switch request.operation {
            case .status: #expect(vector.operation == "status", "\(vector.why)")
            case .verify(let code):
                #expect(vector.operation == "verify", "\(vector.why)")
                let text = vector.code ?? ""
                #expect(code == SecretBytes(copying: Array(text.utf8).span), "\(vector.why)")
            }
        }
    }

    @Test("a request of the wrong size is refused")
    func sizes() throws {
        let vector = try #require(try MessageVector.all("request").first { $0.valid })
        let bytes = try vector.bytes(LoginRequest.count)
        #expect(LoginRequest(bytes.span) != nil)
        for other in [bytes + [0], [UInt8](bytes.dropLast()), []] {
            #expect(LoginRequest(other.span) == nil, "\(other.count) bytes")
        }
    }

    @Test("a user name that is not UTF-8 belongs to nobody")
    func notUTF8() throws {
        let vector = try #require(try MessageVector.all("request").first { $0.valid })
        var bytes = try vector.bytes(LoginRequest.count)
        bytes[40] = 0xFF
        let request = LoginRequest(bytes.span)
        #expect(request != nil && request?.user == nil)
    }

    @Test("a service or remote host with a space or a byte beyond ASCII is refused")
    func texts() throws {
        let vector = try #require(try MessageVector.all("request").first { $0.valid })
        for offset in [7, 169] {
            for byte: UInt8 in [0x20, 0x0A, 0x7F, 0xC3] {
                var bytes = try vector.bytes(LoginRequest.count)
                bytes[offset] = byte
                #expect(LoginRequest(bytes.span) == nil, "\(offset): \(byte)")
            }
        }
    }

    @Test("responses are encoded as in the vectors")
    func responses() throws {
        let vectors = try MessageVector.all("response").filter(\.valid)
        #expect(!vectors.isEmpty)
        for vector in vectors {
            let response = try #require(vector.response, "\(vector.why)")
            #expect(response.bytes == (try vector.bytes(LoginResponse.count)), "\(vector.why)")
        }
    }

    @Test("a wait is never sent as 0 seconds, which would be malformed")
    func shortestWait() {
        #expect(
            LoginResponse.denied(.mustWait(seconds: 0)).bytes
                == LoginResponse.denied(.mustWait(seconds: 1)).bytes)
    }
}
