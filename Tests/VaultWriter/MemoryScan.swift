import Glibc

/// Searches all of this process's memory for a text.
struct MemoryScan {
    /// The text with every bit inverted, so that the search does not find its own pattern.
    private let turned: [UInt8]

    /// Takes the text in two parts, so that the whole text never appears in memory.
    init(_ first: String, _ second: String) {
        turned = first.utf8.map { ~$0 } + second.utf8.map { ~$0 }
    }

    /// Counts the occurrences in writable memory, to which the text could have been copied.
    func count() -> Int {
        guard let maps = unsafe fopen("/proc/self/maps", "r") else { return -1 }
        defer { unsafe fclose(maps) }
        let memory = unsafe open("/proc/self/mem", O_RDONLY)
        defer { close(memory) }
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1 << 16)
        unsafe buffer.initialize(repeating: 0)
        guard let first = buffer.baseAddress else { return -1 }
        // Clear the buffer, so that the next search does not find the data read by this one.
        defer {
            unsafe explicit_bzero(first, buffer.count)
            unsafe buffer.deallocate()
        }
        let own = Int(bitPattern: first)
        var found = 0
        var line = [CChar](repeating: 0, count: 4096)
        while unsafe fgets(&line, Int32(line.count), maps) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            let words = text.split(separator: " ")
            let ends = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            guard ends.count == 2, words[1].hasPrefix("rw") else { continue }
            // The buffer itself contains the data that was read last.
            found += unsafe count(from: ends[0], to: min(ends[1], own), in: memory, by: buffer)
            found += unsafe count(
                from: max(ends[0], own + buffer.count), to: ends[1], in: memory, by: buffer)
        }
        return found
    }

    private func count(
        from start: Int, to end: Int, in memory: Int32, by buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        var found = 0
        var position = start
        while position < end {
            let size = unsafe pread(
                memory, buffer.baseAddress, min(buffer.count, end - position), off_t(position))
            guard size > 0 else { return found }
            found += unsafe count(in: UnsafeBufferPointer(rebasing: buffer[..<size]))
            // A text that spans two chunks is found in the second one.
            guard position + size < end else { return found }
            position += max(size - turned.count + 1, 1)
        }
        return found
    }

    private func count(in buffer: UnsafeBufferPointer<UInt8>) -> Int {
        let bytes = unsafe Span(_unsafeElements: buffer)
        let first = ~turned[0]
        var found = 0
        var start = 0
        while start + turned.count <= bytes.count {
            if bytes[start] == first, stands(at: start, in: bytes) { found += 1 }
            start += 1
        }
        return found
    }

    private func stands(at start: Int, in bytes: Span<UInt8>) -> Bool {
        turned.indices.allSatisfy { bytes[start + $0] == ~turned[$0] }
    }
}
