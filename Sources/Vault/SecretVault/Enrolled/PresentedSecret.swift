internal import WatchwordCryptography

/// The secret that was last presented for one enrolment, identified by digests.
///
/// If a device presents an older one, the server assumes theft and has the secret wiped.
public struct PresentedSecret: Hashable, Sendable {
    /// The length of ``enrolment`` in bytes.
    public static let enrolmentCount = 16
    static let digestCount = 32

    /// Identifies the enrolment: a digest of the server's address and the credential's name.
    public let enrolment: [UInt8]
    /// The generation of the secret that was presented.
    public let generation: UInt64
    /// A digest of that secret and of the nonce that it was presented with.
    public let digest: [UInt8]

    /// Creates a record with digests of ``enrolmentCount`` bytes and of 32 bytes.
    public init(enrolment: [UInt8], generation: UInt64, digest: [UInt8]) {
        precondition(
            enrolment.count == PresentedSecret.enrolmentCount
                && digest.count == PresentedSecret.digestCount, "digests have these lengths")
        self.enrolment = enrolment
        self.generation = min(generation, VaultLimits.number)
        self.digest = digest
    }
}

/// The content of the `enrolled` file: what was last presented for each enrolment.
///
/// It is not authenticated: like the `generation` file, it detects mistakes, but not an attacker
/// who can change all files.
struct PresentedSecrets: Hashable {
    /// The last presented secret of each enrolment; the most recently presented one comes last.
    private(set) var all: [PresentedSecret] = []

    /// The maximum number of enrolments; the least recently used ones are dropped.
    static let limit = 1000
    static let sizeLimit = 1 << 18
    static let firstLine = Array("watchword-enrolled 1\n".utf8)

    subscript(enrolment: [UInt8]) -> PresentedSecret? {
        all.first { $0.enrolment == enrolment }
    }

    mutating func forget(_ enrolment: [UInt8]) { all.removeAll { $0.enrolment == enrolment } }

    mutating func add(_ presented: PresentedSecret) {
        forget(presented.enrolment)
        all.append(presented)
        all.removeFirst(max(all.count - PresentedSecrets.limit, 0))
    }

    /// Adds what `others` say of enrolments for which nothing newer is known.
    mutating func add(_ others: PresentedSecrets) {
        for other in others.all {
            if let known = self[other.enrolment], known.generation >= other.generation { continue }
            add(other)
        }
    }

    /// The bytes of the file.
    func text() -> [UInt8] {
        var text = VaultText()
        text.write(PresentedSecrets.firstLine)
        for presented in all {
            text.write("presented ")
            text.writeBase64(presented.enrolment)
            text.write(" \(presented.generation) ")
            text.writeBase64(presented.digest)
            text.endLine()
        }
        text.write(VaultEnvelope.lastLine(for: text.bytes[...]))
        return text.bytes
    }

    init() {}

    /// Parses the bytes of a file.
    init(reading bytes: [UInt8]) throws(VaultError) {
        var line = LineReader(bytes)
        try line.next()
        try line.next()
        while line.isLine("presented") {
            try line.skip("presented")
            let enrolment = try line.base64(
                in: line.word(), count: PresentedSecret.enrolmentCount)
            let generation = try line.count()
            let digest = try line.base64(
                in: line.lastWord(), count: PresentedSecret.digestCount)
            guard self[enrolment] == nil, all.count < PresentedSecrets.limit else {
                throw line.damaged
            }
            all.append(
                PresentedSecret(enrolment: enrolment, generation: generation, digest: digest))
            try line.next()
        }
        guard bytes.starts(with: PresentedSecrets.firstLine),
            VaultEnvelope.lastLine(for: bytes[..<line.start])
                .elementsEqual(bytes[line.start...])
        else { throw .damaged(.checksum) }
    }
}
