import CommandLineInterface
import HTTPListener
import Verification
import VerificationService
import WatchwordCoding
import WatchwordSystem

/// `init`: sets up a server: its settings, its keys, its database and its first client.
enum InitCommand {
    static func run(_ session: ServerSession) async throws -> ExitCode {
        let arguments = try asksQuestions(session) ? answered(session.arguments) : session.arguments
        let session = ServerSession(arguments: arguments, printer: session.printer)
        let client = try arguments[.client].map {
            try NewClient(named: $0, arguments, standard: [.verify, .enrol])
        }
        // Checks the options as `serve` does.
        _ = try ServingSettings(arguments, now: SystemClock.unixTime())
        let places = try ServerPaths(arguments)
        let settings = try writeSettings(arguments)
        let context = try ServerContext.open(places, making: true)
        defer { context.close() }
        if let client, try await !ClientCommand.add(client, context, session) {
            session.printer.note(
                ServerMessages.clientIsThere(named: client.name).visibleOnTerminal)
        }
        try report(places, settings, session)
        return .done
    }

    /// Writes the options of `serve` to the settings file.
    ///
    /// - Returns: the path of the file; `nil` if there is none.
    private static func writeSettings(_ arguments: ServerArguments) throws -> String? {
        let given = arguments.given.filter { ServerVerb.serving.contains($0.option) }
        guard let path = SystemInstallation.settings(for: arguments) else {
            // Each command accepts the locations of the database and the keys, but without a
            // settings file, the other options would be lost.
            if let lost = given.first(where: { ![.store, .keys].contains($0.option) }) {
                throw UsageError.needs(lost.option.name, with: Option.settings.name)
            }
            return nil
        }
        for given in given { try check(given) }
        guard !given.isEmpty else { return path }
        var file = try SettingsFile.existingOrNew(at: path)
        for given in given {
            file.set(given.option.variable, to: given.option.takesValue ? given.value : "1")
        }
        try file.write()
        return path
    }

    /// Checks that a service can use this value, because it runs in a different folder than this
    /// command.
    private static func check(_ given: GivenOption) throws(UsageError) {
        let isAbsolute =
            switch given.option {
            case .store: !given.value.hasPrefix("sqlite:") || given.value.hasPrefix("sqlite:/")
            default: given.option.value != .file || given.value.hasPrefix("/")
            }
        guard isAbsolute else {
            throw .badValue(given.option.name, expected: "an absolute path")
        }
        guard SettingsFile.canHold(given.value) else {
            throw .badValue(
                given.option.name,
                expected: "text without quotation marks, backslashes and control characters")
        }
    }

    /// Prints the locations of the files, and the next steps.
    private static func report(
        _ places: ServerPaths, _ settings: String?, _ session: ServerSession
    ) throws {
        let steps = ServerMessages.nextSteps(keys: places.keyFile, settings: settings)
        if session.wantsJSON {
            try session.printer.line(
                .object([
                    ("keys", .text(places.keyFile)), ("database", .text(places.database.shown)),
                    ("settings", settings.map { .text($0) } ?? .null),
                    ("next", .list(steps.map { .text($0) })),
                ]))
            return
        }
        // The API key is the only line on standard output.
        try session.printer.flush()
        session.printer.note("Keys: \(places.keyFile)".visibleOnTerminal)
        session.printer.note("Database: \(places.database.shown)".visibleOnTerminal)
        if let settings { session.printer.note("Settings: \(settings)".visibleOnTerminal) }
        session.printer.note("Next:")
        for (index, step) in steps.enumerated() {
            session.printer.note("  \(index + 1). \(step)".visibleOnTerminal)
        }
    }
}

extension InitCommand {
    /// The maximum length of an answer: the kernel's limit for a line.
    private static let limit = 4_096
    /// The maximum number of times that a question is asked.
    private static let attempts = 3

    private static func asksQuestions(_ session: ServerSession) -> Bool {
        StandardStream.input.isTerminal && !session.wantsJSON
    }

    /// Asks for the most important options that were not given.
    private static func answered(_ arguments: ServerArguments) throws -> ServerArguments {
        var arguments = arguments
        func isOpen(_ option: Option) -> Bool { arguments[option] == nil }
        let canSave = SystemInstallation.settings(for: arguments) != nil
        if canSave, isOpen(.listen) {
            let standard = ListenAddress.service.text
            let listen = try ask("Address of the API", standard: standard) {
                ListenAddress(parsing: $0) != nil
            }
            if listen != standard {
                arguments = arguments.adding([GivenOption(option: .listen, value: listen)])
            }
        }
        let address = arguments[.listen].flatMap { ListenAddress(parsing: $0) } ?? .service
        if canSave, !address.isLoopback, isOpen(.tlsCertificate), !arguments.has(.insecureHTTP) {
            let isPath = { (text: String) in text.hasPrefix("/") }
            arguments = arguments.adding([
                GivenOption(
                    option: .tlsCertificate,
                    value: try ask("Certificate chain (PEM file)", standard: nil, isPath)),
                GivenOption(
                    option: .tlsKey,
                    value: try ask("Its private key (PEM file)", standard: nil, isPath)),
            ])
        }
        if isOpen(.client) {
            let name = try ask(
                "Name of the first application that may use the API (empty: none)", standard: ""
            ) { _ in true }
            if !name.isEmpty {
                arguments = arguments.adding([GivenOption(option: .client, value: name)])
            }
        }
        return arguments
    }

    /// Asks until the answer is valid.
    ///
    /// - Parameter standard: the meaning of an empty answer; `nil` if there is none.
    private static func ask(
        _ question: String, standard: String?, _ isValid: (String) -> Bool
    ) throws -> String {
        let shown = standard.map { $0.isEmpty ? "" : " [\($0)]" } ?? ""
        for _ in 0..<attempts {
            let answer = try naming(ask(question + shown + ": ")) { .noAnswer($0) }
            if answer.isEmpty, let standard { return standard }
            if isValid(answer) { return answer }
        }
        throw ServerFailure.noAnswer(.ended)
    }

    private static func ask(_ prompt: String) throws(TerminalError) -> String {
        let terminal = try Terminal()
        let bytes = try [UInt8](capacity: limit) { output throws(TerminalError) in
            try terminal.ask(Terminal.Prompt(prompt, isEchoed: true), into: &output)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
