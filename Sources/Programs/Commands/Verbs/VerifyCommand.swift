import CommandLineInterface
import OneTimePassword
import SecretVault
import VaultService
import WatchwordCoding
import WatchwordCryptography

/// `verify`: checks a code.
enum VerifyCommand {
    private struct Window {
        let behind: Int
        let ahead: Int
    }

    private static let windowLimit = CodeComparison.widest

    static func run(_ session: Session) throws -> ExitCode {
        let code = session.arguments.operands[0].filter { $0 != " " && $0 != "-" }
        let offset: Int?
        let isTimeBased: Bool
        let style: CodeStyle?
        var name: EntryName?
        if session.arguments.operands.count == 2 {
            for option in [
                Option.secretFile, .type, .algorithm, .digits, .period, .start, .counter,
            ] where session.arguments.has(option) {
                throw UsageError.specifiedByEntry(option.name)
            }
            let typed = session.arguments.operands[1]
            let vault = try session.openVault(for: NameSearch(names: [typed]))
            let entry = try vault.entries.one(named: typed)
            style = entry.style
            name = entry.name
            offset = try self.offset(of: code, entry, in: vault, session)
            isTimeBased = entry.kind == .totp
        } else {
            let credential = try givenCredential(session)
            style = credential.style
            isTimeBased = if case .time = credential.movingFactor { true } else { false }
            let window = try window(session, isCounter: !isTimeBased)
            offset = try self.offset(of: code, credential, window, session)
        }
        if isTimeBased { session.warnAboutClock() }
        let problem = style.flatMap { style in
            style.accepts(code) ? nil : Messages.sentence(forCodesIn: style, name)
        }
        return try tell(offset, problem, session)
    }

    private static func givenCredential(_ session: Session) throws -> Credential {
        let type = try session.arguments.choice(.type)
        let factor: MovingFactor
        switch type ?? "totp" {
        case "totp":
            if session.arguments.has(.counter) {
                throw UsageError.needs(Option.counter.name, with: "type hotp")
            }
            factor = .time(try session.timeStep())
        case "hotp": factor = .counter(try session.counter())
        default:
            throw UsageError.badValue(Option.type.name, expected: "totp or hotp here")
        }
        let (algorithm, style) = (try session.algorithm(), try session.style())
        let key = try session.key()
        return try Credential(
            issuer: "", account: "", key: key, algorithm: algorithm, style: style,
            movingFactor: factor)
    }

    /// The value of `--window`.
    ///
    /// The default is one step to each side; for counters, whose earlier codes are spent, ten steps
    /// ahead.
    private static func window(_ session: Session, isCounter: Bool) throws -> Window {
        guard let text = session.arguments[.window] else {
            return isCounter
                ? Window(behind: 0, ahead: CodeComparison.widestAhead)
                : Window(behind: 1, ahead: 1)
        }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let behind = parts[0], let ahead = parts[1],
            (0...windowLimit).contains(behind), (0...windowLimit).contains(ahead)
        else {
            let expected = "two whole numbers from 0 to \(windowLimit), such as 1,1"
            throw UsageError.badValue(Option.window.name, expected: expected)
        }
        return Window(behind: behind, ahead: ahead)
    }

    /// Compares the code with the codes of the entry.
    private static func offset(
        of code: String, _ entry: EntrySummary, in vault: any OpenVault, _ session: Session
    ) throws -> Int? {
        guard entry.kind == .totp || entry.kind == .hotp else {
            throw CommandFailure.noCodes(entry.name.visible, entry.kind)
        }
        let isCounter = entry.kind == .hotp
        if isCounter, session.arguments.has(.at) { throw OneTimePasswordError.otherMovingFactor }
        let window = try window(session, isCounter: isCounter)
        let moment = isCounter ? nil : try session.moment()
        if let moment, let step = entry.timeStep { _ = try step.number(at: moment) }
        let comparison = CodeComparison(
            code: code, moment: moment, behind: window.behind, ahead: window.ahead)
        return try session.match(comparison, of: entry, by: vault)
    }

    private static func offset(
        of code: String, _ credential: Credential, _ window: Window, _ session: Session
    ) throws -> Int? {
        let around: UInt64
        switch credential.movingFactor {
        case .time:
            around = try credential.step(atUnixTime: session.moment())
        case .counter(let counter):
            if session.arguments.has(.at) { throw OneTimePasswordError.otherMovingFactor }
            around = counter
        }
        return credential.generator().match(
            Array(code.utf8).span, around: around, behind: window.behind, ahead: window.ahead)
    }

    /// - Parameter problem: the reason why the code cannot belong to the entry.
    private static func tell(_ offset: Int?, _ problem: String?, _ session: Session) throws
        -> ExitCode
    {
        if session.wantsJSON {
            try session.printer.line(
                .object([
                    ("offset", offset.map { .number(Int64($0)) } ?? .null),
                    ("result", .text(offset == nil ? "denied" : "accepted")),
                ]))
        } else if let offset {
            try session.printer.line(String(offset))
        } else {
            let reason = problem ?? "the code is wrong or outside the window"
            session.printer.note("watchword: " + reason)
        }
        return offset == nil ? .no : .done
    }
}

extension CodeStyle {
    /// Whether `text` has the form of a code.
    fileprivate func accepts(_ text: String) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return text.utf8.count == length
            && (self == .steam || text.utf8.allSatisfy { digits.contains($0) })
    }
}
