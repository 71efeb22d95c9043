import Cryptography
import Verification

/// Any bytes as a file of keys: refused, or written back byte for byte; with the digest that lets them
/// further in, too.
func fuzzKeys(_ bytes: [UInt8]) {
    takeKeys(bytes)
    do {
        // What stood as the last line is replaced, so that what stands before it decides.
        let end = bytes.dropLast().lastIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
        let lines = Array(bytes[..<end])
        let digest = try sha256(lines.span)
        takeKeys(lines + Array("end ".utf8) + Base64.encode(digest.span) + [0x0A])
    } catch {
        preconditionFailure("a digest can't be made")
    }
}

private func takeKeys(_ bytes: [UInt8]) {
    let text = SecretBytes(copying: bytes.span)
    do {
        let ring = try KeyRing(parsing: text)
        precondition(
            (1...KeyRing.maximalCount).contains(ring.versions.count), "a ring of no size")
        precondition(
            ring.versions.contains { $0.id == ring.current.id }, "a current key that is not there")
        let again = try ring.text()
        precondition(again == text, "two texts of one ring")
    } catch {
        // A refusal is an answer.
    }
}
