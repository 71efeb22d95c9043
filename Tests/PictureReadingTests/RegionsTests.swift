import QRDrawing
import Testing

@testable import PictureReading

@Suite struct RegionsTests {
    @Test("a region's surrounding region is found")
    func nesting() throws {
        // A dark ring, a light ring and a dark core on a light background.
        let regions = Regions(
            picture([
                ".........",
                ".#######.",
                ".#.....#.",
                ".#.###.#.",
                ".#.###.#.",
                ".#.....#.",
                ".#######.",
                ".........",
            ]))
        let core = regions.number(at: Point(x: 4, y: 4))
        #expect(regions[core].area == 6 && regions.isDark(core))
        let ring = try #require(regions.surrounding(core))
        #expect(regions[ring].area == 14 && !regions.isDark(ring))
        let outer = try #require(regions.surrounding(ring))
        #expect(regions[outer].area == 22 && regions.isDark(outer))
        let ground = try #require(regions.surrounding(outer))
        #expect(regions[ground].area == 30 && regions.surrounding(ground) == nil)
        #expect(regions[outer].surrounds(regions[ring]))
        #expect(!regions[ring].surrounds(regions[outer]))
    }

    @Test("arms that meet further down form one region; parts that touch only at corners do not")
    func joining() {
        let regions = Regions(
            picture([
                "#.#.#.#",
                "#.#.#.#",
                "#.###.#",
                "#.....#",
                "#######",
                ".......",
                "##...##",
                "..###..",
            ]))
        #expect(regions[regions.number(at: Point(x: 6, y: 0))].area == 15)
        #expect(regions[regions.number(at: Point(x: 4, y: 0))].area == 7)
        #expect(regions[regions.number(at: Point(x: 0, y: 6))].area == 2)
        #expect(regions[regions.number(at: Point(x: 3, y: 7))].area == 3)
    }

    @Test("runs of one to twenty pixels are separated, wherever they begin and end")
    func runs() {
        for shift in 0...8 {
            let lengths = [shift + 1] + (1...20)
            let line = lengths.enumerated().map { index, length in
                String(repeating: index % 2 == 0 ? "#" : ".", count: length)
            }
            let regions = Regions(picture([line.joined()]))
            var start = 0
            for (index, length) in lengths.enumerated() {
                let number = regions.number(at: Point(x: Double(start), y: 0))
                #expect(regions[number].area == length)
                #expect(regions.isDark(number) == (index % 2 == 0))
                start += length
            }
        }
    }

    @Test("the extreme points of a region are on its outline")
    func extremes() {
        let regions = Regions(
            picture([
                "......",
                "..##..",
                ".####.",
                "..##..",
            ]))
        let directions = [
            Point(x: -1, y: 0), Point(x: 1, y: 0), Point(x: 0, y: -1), Point(x: 0, y: 1),
        ]
        let number = regions.number(at: Point(x: 3, y: 2))
        let places = regions.extremes(of: number, towards: directions)
        #expect(places[0].x == 1 && places[1].x == 5 && places[2].y == 1 && places[3].y == 4)
    }

    private func picture(_ rows: [String]) -> GrayImage {
        GrayImage(
            width: rows[0].count, height: rows.count,
            pixels: rows.joined().map { $0 == "#" ? 0 : 255 })
    }
}
