import Verification
import WatchwordCryptography

/// Parses the bytes as a key file, unchanged and with a valid digest; an accepted file must be
/// written back byte for byte.
func fuzzKeys(_ bytes: [UInt8]) {
    takeKeys(bytes)
    // The last line is replaced by a valid digest, so that only what precedes it matters.
    let end = bytes.dropLast().lastIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
    let lines = Array(bytes[..<end])
    let digest = sha256(lines.span)
    takeKeys(lines + Array("end ".utf8) + Base64.encode(digest.span) + [0x0A])
}

private func takeKeys(_ bytes: [UInt8]) {
    let text = SecretBytes(copying: bytes.span)
    do {
        let ring = try KeyRing(parsing: text)
        precondition(
            (1...KeyRing.maximumCount).contains(ring.versions.count), "the number of keys is valid")
        precondition(
            ring.versions.contains { $0.id == ring.current.id }, "the current key is in the ring")
        let again = ring.text()
        precondition(again == text, "a key ring has only one text form")
    } catch {
        // Refusing the input is correct.
    }
}
