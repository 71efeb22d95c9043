import Cryptography
import POSIX

/// Takes a screenshot with a tool of the desktop.
///
/// The picture is not decoded here.
enum ScreenPicture {
    /// A program that takes a screenshot.
    private struct Tool {
        let program: String
        /// Its arguments; ``placeholder`` stands for the path of a file to write, for a tool that
        /// cannot write to its standard output.
        let arguments: [String]
        /// It works only if one of these environment variables is set.
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

    /// The names of the tools, in the order in which they are tried.
    static var toolNames: [String] { tools.map(\.program).filter { $0 != portal } }

    /// The picture from the first tool that takes one; `nil` if none does.
    static func take() throws(CommandFailure) -> SecretBytes? {
        do throws(SystemCallFailure) {
            for tool in tools {
                guard tool.displays.contains(where: { Environment.value($0) != nil }),
                    let path = tool.program == portal
                        ? RunningProgram.companion(portal) : RunningProgram.find(tool.program)
                else { continue }
                guard let picture = try take(with: tool, at: path) else { continue }
                // If the user denied the portal's request, no other tool may take a screenshot.
                let isRefusal = picture.withBytes { $0.count < 16 && $0.holds("refused", at: 0) }
                return isRefusal ? nil : picture
            }
            return nil
        } catch {
            throw .system(error)
        }
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
        do {
            return try FileContent.whole(at: file, limit: largest)
        } catch {
            // The tool failed.
            return nil
        }
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
