internal import OneTimePassword
internal import Synchronization
internal import WatchwordCryptography
internal import WatchwordSystem

/// The stored form of a set of recovery codes.
///
/// Each code is hashed with scrypt and the set's salt (NIST SP 800-63B-4, section 3.1.2.2), so that
/// one hash is enough to look up a code in the whole set. The hashes are sealed like seeds rather
/// than keyed with a pepper, so that a key rotation includes them. The hashes of spent codes follow
/// the other hashes, so that a spent code is recognised. Older versions deleted the hashes of spent
/// codes.
package struct RecoverySet: Hashable, Sendable {
    /// 16 random bytes.
    let salt: [UInt8]
    /// The binary logarithm of scrypt's N.
    let logN: Int
    /// The number of codes left.
    let remaining: Int
    private let box: [UInt8]

    /// The hashes of a set's codes.
    struct Hashes: Sendable {
        /// The codes that can still be used.
        var left: [SecretBytes]
        /// The codes that were used.
        var spent: [SecretBytes] = []
    }

    /// The length of a salt in bytes.
    static let saltCount = 16
    /// The length of a hash in bytes.
    static let hashCount = 32
    /// The cost is 1 MiB and about 3 ms: 80 random bits need no more, and a higher cost would make
    /// overloading the server easier.
    static let logN = 10

    init(
        sealing hashes: Hashes, salt: [UInt8], logN: Int, for row: SealingContext,
        under key: KeyVersion
    ) {
        self.salt = salt
        self.logN = logN
        remaining = hashes.left.count
        let all = hashes.left + hashes.spent
        let joined = SecretBytes(capacity: all.count * Self.hashCount) { output in
            for hash in all {
                hash.withBytes { output.append(copying: $0) }
            }
        }
        let data = Self.associatedData(salt, logN, remaining, row, key.id)
        box = key.sealing.seal(joined, associatedData: data.span)
    }

    /// The hashes of the codes.
    func open(for row: SealingContext, under key: KeyVersion) throws(VerifierError) -> Hashes {
        let data = Self.associatedData(salt, logN, remaining, row, key.id)
        let joined = try VerifierError.opening(
            key.sealing.open(box.span, associatedData: data.span))
        let count = joined.count / Self.hashCount
        guard joined.count.isMultiple(of: Self.hashCount),
            (remaining...RecoveryCode.codesPerSet).contains(count)
        else { throw .damagedRow }
        let all = joined.withBytes { joined in
            (0..<count).map { index in
                let start = index * Self.hashCount
                return SecretBytes(
                    copying: joined.extracting(start..<(start + Self.hashCount)))
            }
        }
        return Hashes(left: Array(all.prefix(remaining)), spent: Array(all.dropFirst(remaining)))
    }

    private static func associatedData(
        _ salt: [UInt8], _ logN: Int, _ remaining: Int, _ row: SealingContext, _ key: KeyID
    ) -> [UInt8] {
        var writer = row.associatedData(for: "watchword recovery codes", under: key)
        writer.write(salt)
        writer.write(UInt8(logN))
        writer.write(UInt8(remaining))
        return writer.bytes
    }

    func write(into writer: inout ByteWriter) {
        writer.write(salt)
        writer.write(UInt8(logN))
        writer.write(UInt8(remaining))
        writer.write(box)
    }

    init(from reader: inout ByteReader) throws(VerifierError) {
        salt = try reader.readBytes()
        logN = Int(try reader.read(UInt8.self))
        remaining = Int(try reader.read(UInt8.self))
        // The cost (`logN`) is limited before any hash is computed.
        guard salt.count == Self.saltCount, (10...14).contains(logN),
            remaining <= RecoveryCode.codesPerSet
        else { throw .damagedRow }
        box = try reader.readBytes()
    }
}

/// The form of recovery codes: 80 random bits as 16 Base32 characters, in groups.
enum RecoveryCode {
    /// The number of codes in a set.
    static let codesPerSet = 10
    /// 80 bits, more than the 64 that NIST SP 800-63B-4, section 4.2.1.1 requires.
    static let byteCount = 10
    private static let characterCount = 16
    private static let groupCount = 4
    private static let dash = UInt8(ascii: "-")

    static func make(_ randomness: RandomSource) -> SecretBytes {
        grouped(Base32.encode(randomness.secret(byteCount)))
    }

    /// The code in its displayed form, from its characters in upper or lower case; `nil` if the
    /// text is not a code.
    static func shown(_ characters: SecretBytes) -> SecretBytes? {
        let isCode = characters.withBytes { characters in
            characters.count == characterCount
                && characters.indices.allSatisfy { isBase32(upperCase(characters[$0])) }
        }
        return isCode ? grouped(characters) : nil
    }

    private static func grouped(_ characters: SecretBytes) -> SecretBytes {
        SecretBytes(capacity: characterCount + characterCount / groupCount - 1) { output in
            characters.withBytes { characters in
                for index in characters.indices {
                    if index > 0, index.isMultiple(of: groupCount) { output.append(dash) }
                    output.append(upperCase(characters[index]))
                }
            }
        }
    }

    private static func upperCase(_ character: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character - 0x20 : character
    }

    private static func isBase32(_ character: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character)
            || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(character)
    }
}

/// Hashes recovery codes one at a time, so that an attacker who sends many codes uses at most one
/// processor core and one mebibyte of memory.
final class RecoveryHashing: Sendable {
    private actor Queue {
        func hash(
            _ code: SecretBytes, salt: [UInt8], cost: ScryptCost
        ) throws(CryptographyFailure) -> SecretBytes {
            try scrypt(passphrase: code, salt: salt.span, cost: cost, count: RecoverySet.hashCount)
        }
    }

    private let queue = Queue()
    /// The number of codes of each client that are being hashed or waiting.
    private let waiting = Mutex<[ClientID?: Int]>([:])
    private let limit: Int

    /// - Parameter limit: the maximum number of codes that are being hashed or waiting, half of
    ///   which may come from one client; further codes are refused.
    init(limit: Int = 64) { self.limit = limit }

    /// Hashes a code when its turn comes.
    ///
    /// - Throws: ``VerifierError/overloaded`` if too many codes are waiting.
    func hash(
        _ code: SecretBytes, salt: [UInt8], logN: Int, for client: ClientID?, meter: WorkMeter?
    ) async throws(VerifierError) -> SecretBytes {
        guard enter(client) else { throw .overloaded }
        defer { leave(client) }
        guard let cost = ScryptCost(logN: logN) else { throw .damagedRow }
        meter?.count(.hashes)
        do throws(CryptographyFailure) {
            return try await queue.hash(code, salt: salt, cost: cost)
        } catch { throw .cryptography(error) }
    }

    /// Counts a further code of this client; `false` if there are too many.
    func enter(_ client: ClientID?) -> Bool {
        waiting.withLock { waiting in
            let own = waiting[client] ?? 0
            guard own < (limit + 1) / 2, waiting.values.reduce(0, +) < limit else { return false }
            waiting[client] = own + 1
            return true
        }
    }

    private func leave(_ client: ClientID?) {
        waiting.withLock { waiting in
            let others = (waiting[client] ?? 1) - 1
            waiting[client] = others > 0 ? others : nil
        }
    }
}
