import POSIX
import PictureReader
import SecretVault
import Testing

@testable import Commands

struct MessagesTests {
    @Test(
        "a duration is written in words, to the second",
        arguments: [
            (252, "4 minutes 12 seconds"), (1, "1 second"), (60, "1 minute"), (59, "59 seconds"),
            (61, "1 minute 1 second"), (3600, "1 hour"), (3599, "59 minutes 59 seconds"),
            (7205, "2 hours 5 seconds"), (86_400 * 3 + 60, "3 days 1 minute"),
            (0, "less than a second"),
        ])
    func durations(_ seconds: Int64, _ words: String) {
        #expect(Messages.duration(seconds) == words)
    }

    @Test(
        "three or more consecutive numbers are written as a range",
        arguments: [
            ([], ""), ([2], "2"), ([2, 3], "2, 3"), ([2, 3, 4], "2–4"), ([1, 3, 5], "1, 3, 5"),
            ([1, 2, 5, 6, 7, 9, 10], "1, 2, 5–7, 9, 10"), (Array(2...1000), "2–1000"),
        ])
    func ranges(_ numbers: [Int], _ words: String) {
        #expect(Messages.list(numbers) == words)
    }

    @Test("a reader that was ended is not said to have sent a response")
    func endedReader() {
        let words = Messages.sentence(for: Finding.Refusal.reader(.noAnswer))
        #expect(words == "the export reader was ended before it answered; try again")
        let bad = Messages.sentence(for: Finding.Refusal.reader(.badAnswer))
        #expect(bad == "the export reader sent an invalid response")
    }

    @Test("a report about an open vault does not suggest how to unlock it")
    func notCleared() {
        let full = SystemCallFailure(call: "write", number: 28)
        for reason in [VaultError.notCounted(full), .newerAttempts(2)] {
            let words = Messages.sentence(for: VaultReport.failuresNotCleared(reason), in: [])
            #expect(words.contains("the vault is open, but earlier failures are still counted"))
            #expect(!words.contains("nothing was tried") && !words.contains("--recovery-key"))
        }
    }
}
