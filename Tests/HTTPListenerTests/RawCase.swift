import TestSupport
import Testing

/// The bytes to send, and the expected status; 0 for a closed connection.
struct RawCase: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    let status: Int
    var testDescription: String { name }

    init(_ name: String, _ text: String, _ status: Int) {
        self.name = name
        bytes = Array(text.utf8)
        self.status = status
    }

    /// Expects that `all` is exactly one response from the listener, or empty.
    func expectAnswer(_ all: [UInt8]) {
        guard status != 0 else {
            #expect(String(decoding: all, as: UTF8.self) == "", "\(name)")
            return
        }
        let answer = RawConnection.answer(in: all)
        #expect(answer?.status == status, "\(name)")
        if status != 200 { #expect(answer?.text == "refused", "\(name)") }
    }
}

/// A request with a body of three bytes.
func post(_ headers: String, _ body: String = "abc", version: String = "1.1") -> String {
    "POST /a HTTP/\(version)\r\nHost: x\r\n\(headers)\r\n\r\n\(body)"
}

/// A chunk of three bytes.
let chunks = "3\r\nabc\r\n0\r\n\r\n"
