import Testing
import WatchwordSystem

struct ProcessorTimeTests {
    @Test("work uses processor time, and a moment in the future is reached by working")
    func work() {
        let start = ProcessorTime.now
        let end = start + .milliseconds(5)
        #expect(start < end)
        #expect(!(end < start))
        var sum = 0
        while ProcessorTime.now < end { sum &+= 1 }
        #expect(sum > 0)
        #expect(ProcessorTime.now.used - start.used >= .milliseconds(5))
    }
}
