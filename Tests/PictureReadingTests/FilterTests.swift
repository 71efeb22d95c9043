import QRDrawing
import Testing

@testable import PictureReading

@Suite struct FilterTests {
    private let ramp = GrayImage(
        width: 40, height: 30, pixels: (0..<1_200).map { UInt8($0 % 40 * 6) })

    @Test("inverting a picture twice restores the original")
    func inverse() {
        #expect(ramp.inverted().pixels == ramp.pixels.map { 255 - $0 })
        #expect(ramp.inverted().inverted() == ramp)
    }

    @Test("a frame surrounds the picture and does not change it")
    func frame() {
        let framed = ramp.framed(by: 3, brightness: 77)
        #expect(framed.width == 46 && framed.height == 36)
        #expect(framed.cropped(by: 3) == ramp)
        #expect(framed.pixels.prefix(46 * 3).allSatisfy { $0 == 77 })
    }

    @Test("a reduced pixel is the mean of the pixels that it covers")
    func reduction() {
        let picture = GrayImage(width: 4, height: 2, pixels: [0, 100, 10, 30, 100, 200, 50, 70])
        #expect(picture.reduced(longerSide: 2).pixels == [100, 40])
        #expect(picture.reduced(longerSide: 4) == picture)
        // Three pixels become two: the middle pixel counts half for each.
        let three = GrayImage(width: 3, height: 1, pixels: [30, 60, 90])
        #expect(three.reduced(longerSide: 2).pixels == [40, 80])
    }

    @Test(
        "a uniform picture stays uniform when reduced, enlarged or blurred",
        arguments: [0, 1, 127, 254, 255])
    func even(value: UInt8) {
        let even = GrayImage(width: 30, height: 20, pixels: [UInt8](repeating: value, count: 600))
        let filtered = [
            even.reduced(longerSide: 7), even.enlarged(times: 3), even.blurred(sigma: 2),
        ]
        for picture in filtered { #expect(picture.pixels.allSatisfy { $0 == value }) }
    }

    @Test("an enlarged picture keeps the values of the original pixels")
    func enlargement() {
        let large = ramp.enlarged(times: 3)
        #expect(large.width == 120 && large.height == 90)
        for column in 2..<38 {
            #expect(large.pixels[46 * 120 + column * 3 + 1] == UInt8(column * 6))
        }
    }

    @Test("a blur spreads a point evenly and preserves its total brightness")
    func blur() {
        let point = GrayImage(width: 21, height: 21, pixels: (0..<441).map { $0 == 220 ? 255 : 0 })
        let soft = point.blurred(sigma: 1)
        let sum = soft.pixels.reduce(0) { $0 + Int($1) }
        #expect(abs(sum - 255) < 12)
        #expect(soft.pixels[220] == 41)  // 255 / 2π
        #expect(soft.pixels == soft.pixels.reversed())
    }

    @Test("the local mean finds dark pixels on an uneven background, unlike a global threshold")
    func meanThreshold() {
        let uneven = ramp.changed { x, y, value in (x % 10 == 5 && y > 3) ? value / 2 : value }
        let found = uneven.thresholdedByMean(radius: 4)
        for x in stride(from: 5, to: 40, by: 10) {
            #expect(found.pixels[15 * 40 + x] == 0)
            #expect(found.pixels[15 * 40 + x - 2] == 255)
        }
    }

    @Test("the local mean covers a window that is clipped at the picture's edges")
    func window() {
        let picture = GrayImage(width: 3, height: 3, pixels: [10, 20, 30, 40, 50, 60, 70, 80, 90])
        var windows = WindowSums(width: 3, height: 3, radius: 1)
        var sums: [[Int32]] = []
        for row in 0..<3 {
            unsafe picture.pixels.withUnsafeBufferPointer { source in
                unsafe windows.slide(to: row, in: source)
            }
            unsafe windows.withRow { found, counts in
                for column in 0..<3 { unsafe sums.append([found[column], counts[column]]) }
            }
        }
        #expect(
            sums == [
                [120, 4], [210, 6], [160, 4], [270, 6], [450, 9], [330, 6], [240, 4], [390, 6],
                [280, 4],
            ])
    }

    @Test("Otsu's threshold separates two groups")
    func otsu() {
        let two = ramp.changed { x, y, _ in (x + y) % 3 == 0 ? 90 : 120 }
        let parted = two.thresholdedByOtsu()
        for (value, part) in zip(two.pixels, parted.pixels) {
            #expect(part == (value == 90 ? 0 : 255))
        }
    }

    @Test("colours of equal brightness differ along their principal component")
    func principalComponent() {
        let samples = (0..<100).flatMap { $0 % 3 == 0 ? [200, 60, 60] : [30, 145, 60] as [UInt8] }
        let parted = ColourImage(width: 10, height: 10, samples: samples).principalComponent()
        let first = parted.pixels[0]
        #expect(first == 0 || first == 255)
        for (index, value) in parted.pixels.enumerated() {
            #expect(value == (index % 3 == 0 ? first : 255 - first))
        }
    }
}
