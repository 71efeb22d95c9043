internal import WatchwordCryptography

/// The certificates in the content of indices of a TPM's memory, in DER.
///
/// A certificate may begin in one index and end in the next one. What follows the last certificate
/// in an index is ignored, because some makers fill the rest with other bytes.
package func storedCertificates(in indices: [[UInt8]]) -> [[UInt8]] {
    let bytes = Array(indices.joined())
    var found: [[UInt8]] = []
    var (position, end) = (0, 0)
    for index in indices {
        position = max(position, end)
        end += index.count
        while position < end, let count = certificateCount(in: bytes[position...]) {
            found.append(Array(bytes[position..<position + count]))
            position += count
        }
    }
    return found
}

/// The size of the certificate at the beginning; `nil` if there is none, or not all of it.
private func certificateCount(in bytes: ArraySlice<UInt8>) -> Int? {
    // A sequence whose length has two bytes; no certificate is shorter.
    let head = Array(bytes.prefix(4))
    guard head.count == 4, head[0] == 0x30, head[1] == 0x82 else { return nil }
    let count = 4 + Int(head[2]) << 8 + Int(head[3])
    return count <= min(bytes.count, KeyAttestation.largestCertificate) ? count : nil
}
