import Testing

@testable import Verification

@Suite("UnixTime")
struct UnixTimeTests {
    @Test("T-06 times after 2038 and before 1970 convert correctly")
    func ranges() {
        #expect(UnixTime(seconds: 20_000_000_000).seconds == 20_000_000_000)
        #expect(UnixTime(milliseconds: -1).seconds == -1)
        #expect(UnixTime(milliseconds: -1_000).seconds == -1)
        #expect(UnixTime(milliseconds: 1_999).seconds == 1)
    }

    @Test("arithmetic saturates at the ends of the range")
    func ends() {
        #expect(UnixTime(seconds: .max).milliseconds == .max)
        #expect(UnixTime(seconds: .min).milliseconds == .min)
        #expect(UnixTime(milliseconds: .max).adding(seconds: 1).milliseconds == .max)
        #expect(UnixTime(milliseconds: .min).adding(seconds: -1).milliseconds == .min)
        let span = UnixTime(milliseconds: .max).milliseconds(since: UnixTime(milliseconds: -1))
        #expect(span == .max)
    }
}
