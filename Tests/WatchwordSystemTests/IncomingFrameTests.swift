import TestSupport
import Testing

@testable import WatchwordSystem

struct IncomingFrameTests {
    private static let largest = 64 << 20
    private static let large = IncomingFrame.LargeFrames(limit: largest) { bytes, _ in
        bytes[0] == 1
    }

    @Test("the rest of a large frame has a timeout of its own")
    func slowRest() throws {
        let pair = try SocketPair()
        try pair.first.setBlocking(false)
        let sender = try pair.second.duplicate()
        let connection = FrameConnection(pair.takeFirst())
        try sender.writeAll((header(1 << 20) + [UInt8](repeating: 1, count: 100_000)).span)
        let start = Moment.now
        let received = try connection.receive(
            limit: 100_000, largeFrames: Self.large, idleTime: nil, timeout: .seconds(60),
            largeTimeout: .milliseconds(50))
        guard case .timedOut = received else {
            Issue.record("\(received)")
            return
        }
        #expect(Moment.now < start + .seconds(30))
    }

    private func header(_ size: Int) -> [UInt8] { UInt32(size).littleEndianBytes }

    /// The progress and the capacity after `content` has arrived, with the length `claimed` before
    /// it.
    private func progress(
        _ content: [UInt8], claimed: Int? = nil
    ) throws -> (IncomingFrame.Progress, capacity: Int) {
        let pair = try SocketPair()
        try pair.first.setBlocking(false)
        let sending = try pair.second.duplicate()
        let bytes = header(claimed ?? content.count) + content
        let writer = try #require(
            WorkerThread {
                // The reader may close the connection before it has read everything.
                do { try sending.writeAll(bytes.span) } catch {}
            })
        var frame = try IncomingFrame(limit: 100_000, largeFrames: Self.large)
        var progress = IncomingFrame.Progress.wouldWait
        let receiving = pair.takeFirst()
        while case .wouldWait = progress {
            guard try Polling.ready(of: [.reading(receiving)], timeout: .milliseconds(200))[0]
            else { break }
            progress = try frame.advance(from: receiving)
        }
        receiving.shutDown()
        writer.join()
        return (progress, frame.capacity)
    }

    @Test(
        "a frame is read in parts",
        arguments: [1, 65_535, 65_536, 65_537, 99_999, 100_000, 300_000])
    func parts(count: Int) throws {
        // The first byte is 1.
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
        guard case .complete(let frame) = try progress(content).0 else {
            Issue.record("the frame is not complete")
            return
        }
        #expect(frame.withBytes { bytes in bytes.indices.map { bytes[$0] } } == content)
    }

    @Test("no memory is allocated for the length that a frame claims")
    func claims() throws {
        let (progress, capacity) = try progress([1, 2, 3], claimed: Self.largest)
        guard case .wouldWait = progress else {
            Issue.record("\(progress)")
            return
        }
        #expect(capacity == 65_536)
    }

    @Test("only frames of the large kind may exceed the limit for other frames")
    func kinds() throws {
        for (first, claimed) in [(UInt8(2), 100_001), (1, Self.largest + 1), (1, 0)] {
            let content = [UInt8](repeating: first, count: 100_001)
            guard case .bad = try progress(content, claimed: claimed).0 else {
                Issue.record("\(first) \(claimed)")
                return
            }
        }
    }
}
