import Foundation
import OneTimePassword
import Testing
import WatchwordCryptography

/// An entry as an independent program decoded it.
struct ExpectedEntry: Decodable {
    let type: String
    let issuer: String
    let account: String
    let secret: String
    let algorithm: String
    let digits: Int
    let period: Int64?
    let counter: UInt64?

    func check(_ credential: Credential) throws {
        #expect(credential.issuer == issuer)
        // The independent program may also leave the issuer in the name.
        #expect(account == credential.account || account == "\(issuer):\(credential.account)")
        let key = Array(secret.utf8)
        #expect(try Base32.decode(key.span, padding: .omitted) == credential.key)
        #expect(credential.algorithm.rawValue == algorithm)
        #expect(credential.style.length == digits)
        #expect((credential.style == .steam) == (type == "steam"))
        switch credential.movingFactor {
        case .time(let step): #expect(step.period == period && type != "hotp")
        case .counter(let value): #expect(value == counter && type == "hotp")
        }
    }
}

struct ExpectedFile: Decodable {
    let entries: [ExpectedEntry]

    init(_ file: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }
}

struct ExpectedExport: Decodable {
    struct Part: Decodable {
        struct Meta: Decodable {
            let version: Int
            let batch_size: Int
            let batch_index: Int
            let batch_id: Int32
        }
        let meta: Meta
        let entries: [ExpectedEntry]
    }
    let entries: [Part]

    init(_ file: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }
}

struct ExpectedPicture: Decodable {
    struct Found: Decodable {
        let text: String
        let decoded: ExpectedExport.Part
    }
    let entries: [Found]

    init(_ file: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }
}
