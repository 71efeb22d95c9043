import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
import WatchwordCryptography

struct SecretBytesTests {
    @Test("secrets that do not fit into the locked heap keep their content")
    func biggerThanTheHeap() {
        let large = SecretBytes(capacity: 9 << 20) { output in
            for index in 0..<9 << 20 { output.append(UInt8(truncatingIfNeeded: index)) }
        }
        let small = SecretBytes(capacity: 3) { output in output.append(7) }
        #expect(large.count == 9 << 20)
        #expect(large.withBytes { $0[(9 << 20) - 1] } == 0xFF)
        #expect(small.withBytes { $0[0] } == 7)
    }

    @Test("small keys can be created when the locked heap is full")
    func manyKeys() {
        let keys = (0..<200_000).map { number in
            SecretBytes(capacity: 20) { output in
                output.append(UInt8(truncatingIfNeeded: number))
            }
        }
        #expect(keys.allSatisfy { $0.count == 1 })

        // A thread's random generator is created in the same heap at the thread's first request.
        let made = DispatchSemaphore(value: 0)
        let count = Mutex(0)
        Thread {
            defer { made.signal() }
            let seen = Randomness.bytes(count: 16)
            let unseen = Randomness.secret(count: 16)
            count.withLock { $0 = seen.count + unseen.count }
        }.start()
        made.wait()
        #expect(count.withLock { $0 } == 32)
        #expect(keys.count == 200_000)
    }

    @Test("when other secrets have filled the locked heap, vault keys still get locked memory")
    func reserved() {
        var others: [SecretBytes] = []
        // Blocks of all sizes, so that rounding up does not take what is reserved.
        for size in [1 << 20, 3 << 17, 33 << 10, 33, 1] {
            repeat {
                others.append(SecretBytes(capacity: size) { $0.append(1) })
            } while others.last?.isLocked == true
        }
        let key = SecretBytes(capacity: 32) { output in
            while output.freeCapacity > 0 { output.append(7) }
        }
        let keys = (0..<1_000).map { _ in SecretBytes(key: key) }
        #expect(keys.allSatisfy { $0.isLocked && $0 == key })
        #expect(others.allSatisfy { $0.count == 1 })
    }

    /// Makes prepared keys, which cannot be copied, storable in an array.
    private final class Holder {
        let key: PreparedKey
        init(_ key: SecretBytes) { self.key = PreparedKey(key, algorithm: .sha1) }
    }

    @Test("prepared keys that do not fit into the locked heap generate correct codes")
    func manyPreparedKeys() throws {
        let key = SecretBytes(text: "12345678901234567890")
        // At 128 bytes each, they need more than six million bytes; the heap has four million.
        let holders = (0..<50_000).map { _ in Holder(key) }
        // RFC 4226, appendix D.
        let last = try #require(holders.last)
        #expect(last.key.truncatedCode(of: 0) % 1_000_000 == 755_224)
        #expect(holders[0].key.truncatedCode(of: 0) % 1_000_000 == 755_224)
    }
}
