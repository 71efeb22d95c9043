public import WatchwordCryptography

extension KeyRing {
    /// The key ring in its file format; the text is secret.
    ///
    ///     watchword-keys 1
    ///     lookup BASE64
    ///     key 1 BASE64
    ///     key 2 BASE64
    ///     current 2
    ///     end BASE64 (SHA-256 of everything before this line, to detect truncation)
    public func text() -> SecretBytes {
        let lines = SecretBytes(capacity: 64 * (versions.count + 3)) { output in
            func append(_ text: String) { for byte in text.utf8 { output.append(byte) } }
            func append(_ secret: SecretBytes) {
                Base64.encode(secret).withBytes {
                    output.append(copying: $0)
                }
            }
            append("watchword-keys 1\nlookup ")
            append(lookupSecret)
            for version in versions {
                append("\nkey \(version.id.number) ")
                append(version.secret)
            }
            append("\ncurrent \(current.id.number)\n")
        }
        let end = Array("end ".utf8) + KeyFileLines.digest(of: lines) + [0x0a]
        return SecretBytes(capacity: lines.count + end.count) { output in
            lines.withBytes { output.append(copying: $0) }
            for byte in end { output.append(byte) }
        }
    }

    /// Parses exactly what ``text()`` writes.
    ///
    /// - Throws: ``VerifierError/keyRing(_:)``.
    public init(parsing text: SecretBytes) throws(VerifierError) {
        var lines = KeyFileLines(text)
        guard let version = lines.nextNumber(behind: "watchword-keys ") else {
            throw .keyRing(.malformed)
        }
        guard version == 1 else { throw .keyRing(.newer) }
        let lookup = try lines.nextSecret(behind: "lookup ")
        var versions: [KeyVersion] = []
        while let id = lines.nextKeyID(), versions.count < Self.maximumCount {
            versions.append(try KeyVersion(id, try lines.nextSecret(behind: "")))
        }
        guard let number = lines.nextNumber(behind: "current "), let current = KeyID(number)
        else { throw .keyRing(.malformed) }
        try lines.end()
        try self.init(versions: versions, current: current, lookup: lookup)
    }
}

/// A parser for the lines of a key file.
private struct KeyFileLines {
    private let text: SecretBytes
    private var index = 0

    init(_ text: SecretBytes) { self.text = text }

    static func digest(of lines: SecretBytes) -> [UInt8] {
        let digest = lines.withBytes { lines in
            sha256(lines)
        }
        return Base64.encode(digest.span)
    }

    /// Consumes `word` if it comes next.
    private mutating func take(_ word: some Sequence<UInt8>) -> Bool {
        let end = text.withBytes { text -> Int? in
            var end = index
            for byte in word {
                guard end < text.count, text[end] == byte else { return nil }
                end += 1
            }
            return end
        }
        guard let end else { return false }
        index = end
        return true
    }

    /// Consumes a number without a leading zero, and the character `end` after it.
    private mutating func takeNumber(upTo end: UInt8) -> UInt32? {
        let read = text.withBytes { text -> (UInt32, Int)? in
            var value: UInt32 = 0
            var next = index
            while next < text.count, (0x30...0x39).contains(text[next]) {
                let (product, isTooBig) = value.multipliedReportingOverflow(by: 10)
                let (sum, isTooBigNow) = product.addingReportingOverflow(UInt32(text[next] - 0x30))
                guard !isTooBig, !isTooBigNow, next == index || text[index] != 0x30 else {
                    return nil
                }
                value = sum
                next += 1
            }
            guard next > index, next < text.count, text[next] == end else { return nil }
            return (value, next + 1)
        }
        guard let read else { return nil }
        index = read.1
        return read.0
    }

    mutating func nextNumber(behind word: String) -> UInt32? {
        take(word.utf8) ? takeNumber(upTo: 0x0a) : nil
    }

    mutating func nextKeyID() -> KeyID? {
        take("key ".utf8) ? takeNumber(upTo: 0x20).flatMap(KeyID.init) : nil
    }

    mutating func nextSecret(behind word: String) throws(VerifierError) -> SecretBytes {
        let count = Base64.encodedCount(of: KeyRing.keyCount)
        guard take(word.utf8), index + count < text.count else { throw .keyRing(.malformed) }
        let start = index
        index += count
        guard take([0x0a]) else { throw .keyRing(.malformed) }
        do throws(Base64Error) {
            return try text.withBytes { text throws(Base64Error) in
                try Base64.decodeSecret(text.extracting(start..<(start + count)))
            }
        } catch { throw .keyRing(.malformed) }
    }

    /// Checks that only the last line is left and that its digest is correct.
    mutating func end() throws(VerifierError) {
        let lines = text.withBytes { SecretBytes(copying: $0.extracting(..<index)) }
        let digest = Self.digest(of: lines)
        guard take("end ".utf8), take(digest), take([0x0a]), index == text.count else {
            throw .keyRing(.malformed)
        }
    }
}
