import WatchwordCryptography
import WatchwordSystem

/// The settings of a service: lines `NAME=value`, which are its environment.
///
/// Only lines that systemd reads in the same way are accepted (`EnvironmentFile=` in
/// systemd.exec(5)): no backslash, no single quote, and double quotes only around a whole value.
struct SettingsFile {
    /// The content of a line.
    private enum Line {
        /// A comment, or nothing.
        case comment
        case setting(name: String, value: String)
    }

    let path: String
    private var lines: [String]

    private static let limit = 1 << 16

    /// The file at `path`; one without settings if it does not exist.
    static func existingOrNew(at path: String) throws -> SettingsFile {
        do {
            return try SettingsFile(reading: path)
        } catch ServerFailure.input(_, .missing) {
            return SettingsFile(path: path, lines: [])
        }
    }

    private init(path: String, lines: [String]) {
        self.path = path
        self.lines = lines
    }

    /// Reads the file at `path`.
    init(reading path: String) throws {
        let bytes = try InputBytes.of(path, limit: Self.limit)
        let valid = bytes.withBytes { String(validating: [UInt8](copying: $0), as: UTF8.self) }
        guard let text = valid else { throw ServerFailure.settingsFile(path, .notUTF8) }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        for (index, line) in lines.enumerated() where Self.line(line) == nil {
            throw ServerFailure.settingsFile(path, .malformed(line: index + 1))
        }
        self.path = path
        self.lines = lines
    }

    /// The settings; if several have the same name, the last one counts.
    var settings: [(name: String, value: String)] {
        var settings: [(name: String, value: String)] = []
        for case .setting(let name, let value)? in lines.map(Self.line) {
            settings.removeAll { $0.name == name }
            settings.append((name, value))
        }
        return settings
    }

    /// Whether a line can hold this value.
    static func canHold(_ value: String) -> Bool {
        guard case .setting(_, let read)? = line("NAME=" + value) else { return false }
        return read == value
    }

    /// Changes a setting to a value that a line can hold: in its own line or, without one, below
    /// the comment `#NAME=…`, or at the end.
    mutating func set(_ name: String, to value: String) {
        let line = "\(name)=\(value)"
        let own = lines.lastIndex { line in
            if case .setting(name, _)? = Self.line(line) { true } else { false }
        }
        if let own {
            lines[own] = line
        } else if let example = lines.lastIndex(where: { $0.hasPrefix("#\(name)=") }) {
            lines.insert(line, at: example + 1)
        } else {
            lines.append(line)
        }
    }

    /// Replaces the file (mode 0600, because a setting may contain a password).
    func write() throws {
        let text = Array(lines.map { $0 + "\n" }.joined().utf8)
        try naming(OutputFile.write(text.span, to: path, replacing: true)) {
            .settingsFile(path, .notReplaced($0))
        }
    }

    /// Reads a line; `nil` if it is malformed.
    ///
    /// It compares bytes, as systemd does: a `Character` may be a quotation mark with an accent.
    private static func line(_ text: String) -> Line? {
        guard !text.utf8.contains(where: { $0 < 0x20 && $0 != tab }) else { return nil }
        let text = trimmed(text.utf8[...])
        guard let first = text.first, !Array("#;".utf8).contains(first) else {
            // Some versions of systemd continue a comment on the next line.
            return text.last == UInt8(ascii: "\\") ? nil : .comment
        }
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = Substring(text[..<equals])
        var value = trimmed(text[text.index(after: equals)...])
        let quote = UInt8(ascii: "\"")
        if value.count > 1, value.first == quote, value.last == quote {
            value = value.dropFirst().dropLast()
        }
        guard isName(name), !value.contains(where: { forbidden.contains($0) }) else { return nil }
        return .setting(name: String(name), value: String(Substring(value)))
    }

    private static let forbidden = Array("\"'\\".utf8)
    private static let tab = UInt8(ascii: "\t")

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == tab }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
            default: false
            }
        }
    }
}

extension SettingsFile {
    /// The reason why the file cannot be used.
    enum Fault: Hashable, Sendable {
        case notUTF8
        /// This line is malformed; the first line is 1.
        case malformed(line: Int)
        case notReplaced(FileError)
    }
}
