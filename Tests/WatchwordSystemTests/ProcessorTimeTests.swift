import Testing
import WatchwordSystem

struct ProcessorTimeTests {
    @Test("work uses processor time, and a moment in the future is reached by working")
    func work() {
        let start = ProcessorTime.now
        let end = start + .milliseconds(5)
        #expect(start < end)
        #expect(!(end < start))
        while ProcessorTime.now < end {}
        #expect(ProcessorTime.now.used - start.used >= .milliseconds(5))
    }
}
