import Testing
import WatchwordSystem

struct ProcessorTimeTests {
    @Test("processor time advances with work, until a future moment is reached")
    func work() {
        let start = ProcessorTime.now
        let end = start + .milliseconds(5)
        #expect(start < end)
        #expect(!(end < start))
        while ProcessorTime.now < end {}
        #expect(ProcessorTime.now.used - start.used >= .milliseconds(5))
    }
}
