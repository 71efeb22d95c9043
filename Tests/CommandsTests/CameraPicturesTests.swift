import QRDrawing
import Testing
import WatchwordCryptography
import WatchwordSystem

@testable import Commands

@Suite struct CameraPicturesTests {
    @Test("the brightness of a YUYV picture is every other byte of its lines")
    func brightness() throws {
        // Two lines of four pixels, and two bytes of padding after each.
        let bytes: [UInt8] = [
            10, 128, 20, 128, 30, 128, 40, 128, 0, 0,
            50, 128, 60, 128, 70, 128, 80, 128, 0, 0,
        ]
        let image = GrayImage(yuyv: bytes.span, width: 4, height: 2, line: 10)
        #expect(image?.pixels == [10, 20, 30, 40, 50, 60, 70, 80])
        let short = Array(bytes.dropLast(2))
        #expect(GrayImage(yuyv: short.span, width: 4, height: 2, line: 10) == image)
    }

    @Test("a YUYV picture with too few bytes is not used")
    func tooShort() {
        let bytes = [UInt8](repeating: 0, count: 17)
        #expect(GrayImage(yuyv: bytes.span, width: 4, height: 2, line: 10) == nil)
        #expect(GrayImage(yuyv: bytes.span, width: 4, height: 2, line: 7) == nil)
        #expect(GrayImage(yuyv: bytes.span, width: 0, height: 2, line: 10) == nil)
        #expect(GrayImage(yuyv: bytes.span, width: 4, height: 0, line: 10) == nil)
    }

    @Test("a JPEG from the camera is passed on unchanged, and a YUYV picture as a PNG")
    func files() throws {
        let bytes: [UInt8] = [10, 128, 20, 128]
        // A macro cannot receive a span.
        let passedOn = CameraPictures.file(of: .jpeg, bytes.span)
        let jpeg = try #require(passedOn)
        jpeg.withBytes { #expect($0.count == 4 && $0[1] == 128) }
        let picture = Camera.Picture.yuyv(width: 2, height: 1, line: 4)
        let written = CameraPictures.file(of: picture, bytes.span)
        let png = try #require(written)
        png.withBytes { #expect($0[0] == 0x89 && $0[1] == UInt8(ascii: "P")) }
        let missing = CameraPictures.file(of: .yuyv(width: 3, height: 1, line: 6), bytes.span)
        #expect(missing == nil)
    }
}
