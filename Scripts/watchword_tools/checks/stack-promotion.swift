// Compile with `swiftc -O` (6.3.1): `bin` frees `bytes`, which is on its stack without a header, with
// swift_deallocClassInstance. valgrind reports the reads of the missing header.
import Glibc
final class Bytes {
    let count: Int, memory: UnsafeMutablePointer<UInt8>, capacity: Int
    init(_ capacity: Int, _ fill: (inout OutputSpan<UInt8>) throws(CancellationError) -> Void) throws(CancellationError) {
        (self.capacity, memory) = (capacity, .allocate(capacity: max(capacity, 1)))
        let bytes = UnsafeMutableBufferPointer(start: memory, count: capacity)
        var span = OutputSpan(buffer: bytes, initializedCount: 0)
        try fill(&span); count = span.finalize(for: bytes)
    }
    func with<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R { try body(Span(_unsafeElements: UnsafeBufferPointer(start: memory, count: count))) }
    deinit { release(memory, max(capacity, 1)) }
}
@inline(never) func release(_ p: UnsafeMutableRawPointer, _ n: Int) { explicit_bzero(p, n); free(p) }
func decode(_ text: Span<UInt8>, into output: inout OutputSpan<UInt8>) throws(CancellationError) {}
func bin(of o: [Bytes]) -> Bool {
    let text = o.randomElement()!
    let bytes = try? text.with { t throws(CancellationError) in try Bytes(t.count) { o throws(CancellationError) in try decode(t, into: &o) } }
    return bytes?.with { b in b.indices.contains { b[$0] == 0 } } == false
}
print(bin(of: [try Bytes(4) { o in o.append(repeating: 7, count: 4) }]))
