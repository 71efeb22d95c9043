import QRDrawing

/// The image that a terminal shows for lines of half blocks: a small, strict emulator.
struct TerminalPicture {
    /// A cell that was drawn without setting both colours, or with a character other than a
    /// half block.
    struct NotPainted: Error {}

    let columns: Int
    let image: GrayImage

    /// Draws `text` with cells of 8 by 16 pixels.
    init(drawing text: [UInt8]) throws {
        var foreground: UInt8?
        var background: UInt8?
        var lines: [[(top: UInt8, bottom: UInt8)]] = [[]]
        var rest = Substring(String(decoding: text, as: UTF8.self)).unicodeScalars
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\u{1B}":
                guard rest.popFirst() == "[", let end = rest.firstIndex(of: "m") else {
                    throw NotPainted()
                }
                switch String(rest[..<end]) {
                case "0": (foreground, background) = (nil, nil)
                case "38;5;16;48;5;231": (foreground, background) = (0, 255)
                default: throw NotPainted()
                }
                rest = rest[rest.index(after: end)...]
            case "\n":
                guard background == nil else { throw NotPainted() }
                lines.append([])
            default:
                guard let foreground, let background else { throw NotPainted() }
                switch scalar {
                case " ": lines[lines.count - 1].append((background, background))
                case "▀": lines[lines.count - 1].append((foreground, background))
                case "▄": lines[lines.count - 1].append((background, foreground))
                case "█": lines[lines.count - 1].append((foreground, foreground))
                default: throw NotPainted()
                }
            }
        }
        guard lines.last?.isEmpty == true else { throw NotPainted() }
        lines.removeLast()
        guard let first = lines.first, lines.allSatisfy({ $0.count == first.count }) else {
            throw NotPainted()
        }
        columns = first.count
        // The surrounding terminal is black, so that only the drawn quiet zone can make it
        // readable.
        let black = 40
        let width = columns * 8 + 2 * black
        var pixels = [UInt8](repeating: 0, count: black * width)
        for line in lines {
            for half in [true, false] {
                var row = [UInt8](repeating: 0, count: black)
                for cell in line {
                    row += repeatElement(half ? cell.top : cell.bottom, count: 8)
                }
                row += repeatElement(0, count: black)
                for _ in 0..<8 { pixels += row }
            }
        }
        pixels += repeatElement(0, count: black * width)
        image = GrayImage(width: width, height: pixels.count / width, pixels: pixels)
    }
}
