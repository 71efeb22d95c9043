internal import Glibc

extension Span<UInt8> {
    /// The first index of `byte` that is not before `start`; `nil` if there is none.
    public func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        precondition(start >= 0, "the start is in the span")
        guard start < count else { return nil }
        return unsafe withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress,
                let found = unsafe memchr(base + start, Int32(byte), count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Whether the span contains all bytes of `text` at `start`.
    public func holds(_ text: String, at start: Int) -> Bool {
        precondition(start >= 0, "the start is in the span")
        var text = text
        return text.withUTF8 { text in
            guard text.count <= count - start else { return false }
            return unsafe withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress, let wanted = text.baseAddress else {
                    return true
                }
                return unsafe memcmp(base + start, wanted, text.count) == 0
            }
        }
    }
}
