import Testing

@testable import WatchwordSystem

@Suite struct WipedBufferTests {
    @Test("bytes are appended up to the capacity, replaced in place, and wiped on removal")
    func use() throws {
        let buffer = try WipedBuffer(capacity: 5)
        buffer.append { output in for byte: UInt8 in 1...3 { output.append(byte) } }
        buffer.append(atMost: 1) { output in
            #expect(output.freeCapacity == 1)
            output.append(4)
        }
        buffer.append { output in #expect(output.freeCapacity == 1) }
        #expect(bytes(of: buffer) == [1, 2, 3, 4])
        buffer.replace(from: 1, with: [9, 8].span)
        #expect(bytes(of: buffer) == [1, 9, 8, 4])
        buffer.removeAll()
        #expect(buffer.count == 0)
        // A fill that writes nothing shows whether any of the removed bytes were left.
        buffer.append { output in
            unsafe output.withUnsafeMutableBufferPointer { memory, count in
                #expect(unsafe memory.allSatisfy { $0 == 0 })
                count = 4
            }
        }
        #expect(bytes(of: buffer) == [0, 0, 0, 0])
    }

    private func bytes(of buffer: WipedBuffer) -> [UInt8] {
        buffer.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }
}
