import Testing

@testable import Commands

struct WordsTests {
    @Test(
        "a length of time is said to the second, in words",
        arguments: [
            (252, "4 minutes 12 seconds"), (1, "1 second"), (60, "1 minute"), (59, "59 seconds"),
            (61, "1 minute 1 second"), (3600, "1 hour"), (3599, "59 minutes 59 seconds"),
            (7205, "2 hours 5 seconds"), (86_400 * 3 + 60, "3 days 1 minute"),
            (0, "less than a second"),
        ])
    func durations(_ seconds: Int64, _ words: String) {
        #expect(Words.duration(seconds) == words)
    }
}
