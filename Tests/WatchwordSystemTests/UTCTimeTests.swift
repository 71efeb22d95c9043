import TestSupport
import Testing
import WatchwordSystem

struct UTCTimeTests {
    @Test(
        "any 64-bit Unix time converts to a date and a time of day",
        arguments: [
            (0, "1970-01-01T00:00:00"), (-1, "1969-12-31T23:59:59"),
            (-62_135_596_800, "0001-01-01T00:00:00"), (-62_135_596_801, "0000-12-31T23:59:59"),
            (-62_167_219_200, "0000-01-01T00:00:00"), (-62_167_219_201, "-0001-12-31T23:59:59"),
            (253_402_300_799, "9999-12-31T23:59:59"), (253_402_300_800, "10000-01-01T00:00:00"),
            (951_782_400, "2000-02-29T00:00:00"), (4_107_542_399, "2100-02-28T23:59:59"),
            (4_107_542_400, "2100-03-01T00:00:00"), (1_483_228_800, "2017-01-01T00:00:00"),
            (-12_622_780_800, "1570-01-01T00:00:00"), (-12_622_780_801, "1569-12-31T23:59:59"),
            (12_622_780_799, "2369-12-31T23:59:59"), (12_622_780_800, "2370-01-01T00:00:00"),
            (.min, "-292277022657-01-27T08:29:52"), (.max, "292277026596-12-04T15:30:07"),
        ] as [(Int64, String)])
    func dates(_ unixTime: Int64, _ text: String) {
        #expect(UTCTime(unixTime: unixTime).text == text)
    }

    @Test("every day of 400 years begins 86,400 seconds after the previous day")
    func everyDay() {
        let first = UTCTime.startOfDay(year: 1899, month: 12, day: 31)
        var day = UTCTime(unixTime: first ?? 0)
        #expect((day.year, day.month, day.day) == (1899, 12, 31))
        for number in 1...Int64(146_097) {
            let start = -2_209_075_200 + number * 86_400
            day = UTCTime(unixTime: start)
            guard UTCTime.startOfDay(year: day.year, month: day.month, day: day.day) == start,
                (day.hour, day.minute, day.second) == (0, 0, 0)
            else {
                Issue.record("\(day.text)")
                return
            }
        }
        #expect((day.year, day.month, day.day) == (2299, 12, 31))
    }

    @Test("the start of a day plus the time of day is the original Unix time")
    func timeOfDay() throws {
        var generator = SeededGenerator(seed: 3339)
        for _ in 0..<2_000 {
            let unixTime = Int64.random(in: UTCTime.fourDigitYears, using: &generator)
            let time = UTCTime(unixTime: unixTime)
            let start = UTCTime.startOfDay(year: time.year, month: time.month, day: time.day)
            #expect(
                try #require(start) + Int64(time.hour * 3_600 + time.minute * 60 + time.second)
                    == unixTime)
        }
    }

    @Test(
        "a date that does not exist or is outside the years 0 to 9999 is refused",
        arguments: [
            (2026, 2, 29), (2100, 2, 29), (1900, 2, 29), (2000, 2, 30), (2026, 4, 31),
            (2026, 12, 32), (2026, 1, 0), (2026, 0, 1), (2026, 13, 1), (-1, 12, 31),
            (10_000, 1, 1), (.min, 1, 1), (.max, 1, 1), (2026, .max, 1), (2026, 1, .max),
        ])
    func refused(_ year: Int, _ month: Int, _ day: Int) {
        #expect(UTCTime.startOfDay(year: year, month: month, day: day) == nil)
    }

    @Test("the leap days of the years 2000 and 2024 exist")
    func leapDays() {
        #expect(UTCTime.startOfDay(year: 2000, month: 2, day: 29) == 951_782_400)
        #expect(UTCTime.startOfDay(year: 2024, month: 2, day: 29) == 1_709_164_800)
    }
}
