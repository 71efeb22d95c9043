import Testing

@testable import WatchwordCryptography

/// Compares the prepared key with OpenSSL's own HMAC, which the published vectors check.
struct HMACKeyTests {
    @Test("HMAC with a prepared key equals one-shot HMAC for lengths around block boundaries")
    func isTheSame() {
        for keyCount in [0, 1, 31, 32, 63, 64, 65, 128, 200] {
            let secret = SecretBytes(copying: Self.bytes(keyCount, from: 3).span)
            let key = HMACKey(secret)
            for count in [0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 500] {
                let message = Self.bytes(count, from: 7)
                let expected = hmac(.sha256, key: secret, message: message.span)
                let whole = key.authenticationCode(of: message.span)
                #expect(whole == expected)
                let split = count / 3
                let head = Array(message[..<split])
                let tail = Array(message[split...])
                let rest = SecretBytes(copying: tail.span)
                let joined = key.authenticationCode(of: head.span, rest)
                #expect(joined == expected)
            }
        }
    }

    @Test("a prepared key can be used concurrently")
    func isShared() async throws {
        let key = HMACKey(SecretBytes(copying: Self.bytes(32, from: 1).span))
        let messages = (0..<64).map { Self.bytes(100, from: UInt8($0)) }
        let expected = messages.map { key.authenticationCode(of: $0.span) }
        let found = try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
            for (index, message) in messages.enumerated() {
                group.addTask { (index, key.authenticationCode(of: message.span)) }
            }
            return try await group.reduce(into: [Int: [UInt8]]()) { $0[$1.0] = $1.1 }
        }
        for index in messages.indices { #expect(found[index] == expected[index]) }
    }

    private static func bytes(_ count: Int, from start: UInt8) -> [UInt8] {
        (0..<count).map { start &+ UInt8(truncatingIfNeeded: $0 &* 31) }
    }
}
