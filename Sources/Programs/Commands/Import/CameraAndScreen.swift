import Exports
import OneTimePassword
import Pictures
import QRDrawing
import WatchwordCryptography
import WatchwordSystem

/// The reason why no screenshot was taken.
enum ScreenshotFailure: Hashable {
    /// The user denied the portal's request.
    case refused
    /// Neither the portal nor any of these tools works.
    case noTool([String])
}

/// Takes a screenshot with a tool of the desktop.
///
/// The screenshot is decoded in a different process.
enum ScreenPicture {
    /// A program that takes a screenshot.
    private struct Tool {
        let program: String
        /// The arguments; ``placeholder`` stands for the path of the output file of a tool that
        /// cannot write to standard output.
        let arguments: [String]
        /// The tool works only if one of these environment variables is set.
        let displays: [String]
    }

    private static let placeholder = "FILE"
    private static let portal = "watchword-screenshot"
    private static let tools = [
        // The desktop portal.
        Tool(
            program: portal, arguments: [], displays: ["WAYLAND_DISPLAY", "DISPLAY"]),
        Tool(program: "grim", arguments: ["-t", "png", "-"], displays: ["WAYLAND_DISPLAY"]),
        Tool(
            program: "gnome-screenshot", arguments: ["--file", placeholder],
            displays: ["WAYLAND_DISPLAY", "DISPLAY"]),
        // ImageMagick.
        Tool(
            program: "import", arguments: ["-silent", "-window", "root", "png:-"],
            displays: ["DISPLAY"]),
    ]

    /// The environment variables that a tool needs to find the desktop.
    private static let environment = [
        "PATH", "HOME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR",
        "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "DBUS_SESSION_BUS_ADDRESS",
    ]

    private static let largest = 32 << 20
    private static let timeout = Duration.seconds(70)

    /// Returns the screenshot of the first tool that works.
    static func take() throws -> SecretBytes {
        guard let output = try firstOutput() else {
            throw CommandFailure.screenshot(.noTool(tools.map(\.program).filter { $0 != portal }))
        }
        // If the user denied the portal's request, no other tool may circumvent the denial.
        let isRefusal = output.withBytes { $0.count < 16 && $0.holds("refused", at: 0) }
        guard !isRefusal else { throw CommandFailure.screenshot(.refused) }
        return output
    }

    private static func firstOutput() throws(SystemCallFailure) -> SecretBytes? {
        for tool in tools {
            guard tool.displays.contains(where: { Environment.value($0) != nil }),
                let path = tool.program == portal
                    ? RunningProgram.companion(portal) : RunningProgram.find(tool.program)
            else { continue }
            if let output = try take(with: tool, at: path) { return output }
        }
        return nil
    }

    private static func take(
        with tool: Tool, at path: String
    ) throws(SystemCallFailure) -> SecretBytes? {
        guard tool.arguments.contains(placeholder) else {
            return try run(path, tool.arguments)
        }
        let folder = try PrivateTemporaryFolder()
        let file = "\(folder.path)/screen.png"
        _ = try run(path, tool.arguments.map { $0 == placeholder ? file : $0 })
        // Without a file, the tool failed.
        return FileContent.readable(at: file, limit: largest)
    }

    private static func run(
        _ path: String, _ arguments: [String]
    ) throws(SystemCallFailure) -> SecretBytes? {
        let output = try ProgramOutput.of(
            path, arguments, environment: environment, limit: largest, timeout: timeout)
        guard let output, output.count > 0 else { return nil }
        return output.withBytes { SecretBytes(copying: $0) }
    }
}

/// Reads the pictures of a camera until one has a QR code with a key.
enum CameraPictures {
    static let timeout = Duration.seconds(60)

    /// The texts of the first image with an otpauth URI; `nil` if there is none before the timeout.
    static func firstSymbols(from camera: Camera) throws -> [SecretBytes]? {
        let reader = try CommandFailure.naming("watchword-reader") { try ReaderPool() }
        let end = Moment.now + timeout
        while Moment.now < end {
            guard let file = try nextFile(from: camera) else { continue }
            let symbols = try symbols(in: file, reader)
            let hasKey = symbols.contains { symbol in
                symbol.withBytes { KeyURI.isKeyURI($0) || MigrationBatch.isMigrationURI($0) }
            }
            if hasKey { return symbols }
        }
        return nil
    }

    private static func nextFile(from camera: Camera) throws -> SecretBytes? {
        var file: SecretBytes?
        try camera.next(timeout: .seconds(1)) { picture, bytes in
            file = CameraPictures.file(of: picture, bytes)
        }
        return file
    }

    private static func symbols(
        in file: SecretBytes, _ reader: ReaderPool
    ) throws -> [SecretBytes] {
        var symbols: [SecretBytes] = []
        // A later image may be readable.
        _ = try CommandFailure.naming("watchword-reader") {
            try reader.read(byteCount: file.count, lend: { file.withBytes($0) }) {
                symbols.append(SecretBytes(copying: $0))
            }
        }
        return symbols
    }

    /// An image file for the reader: the camera's JPEG, or the brightness as a PNG.
    static func file(of picture: Camera.Picture, _ bytes: Span<UInt8>) -> SecretBytes? {
        switch picture {
        case .jpeg: return SecretBytes(copying: bytes)
        case .yuyv(let width, let height, let line):
            let image = GrayImage(yuyv: bytes, width: width, height: height, line: line)
            guard let image else { return nil }
            // Borrowing the span of the call's result crashes the compiler (Swift 6.3).
            let png: [UInt8]
            do { png = try writePNG(image) } catch { return nil }
            return SecretBytes(copying: png.span)
        }
    }
}

extension GrayImage {
    /// The brightness of a picture with two bytes per pixel, of which the first is the brightness
    /// (YUYV); `nil` if there are too few bytes.
    init?(yuyv bytes: Span<UInt8>, width: Int, height: Int, line: Int) {
        guard width > 0, height > 0, line >= width * 2,
            bytes.count >= line * (height - 1) + width * 2
        else { return nil }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            for column in 0..<width { pixels.append(bytes[row * line + column * 2]) }
        }
        self.init(width: width, height: height, pixels: pixels)
    }
}
