package import WatchwordSystem

/// Shows the modules' messages and questions to the person at the terminal.
package final class ModuleTerminal {
    private let purpose: String
    private let deadline: Moment
    private var hasShownPurpose = false

    /// - Parameters:
    ///   - purpose: shown before the first message.
    ///   - deadline: when a question is no longer answered.
    package init(purpose: String, until deadline: Moment) {
        self.purpose = purpose
        self.deadline = deadline
    }

    /// Shows a message; without a terminal there is nobody to read it.
    package func show(_ text: String) throws(PAMCheckFailure.Reason) {
        do throws(TerminalError) {
            let terminal = try Terminal()
            try showPurpose(on: terminal)
            try terminal.write(ModuleTerminal.fit(text) + "\n")
        } catch .none {
            return
        } catch {
            throw PAMCheckFailure.Reason(error)
        }
    }

    /// Asks a question.
    ///
    /// - Parameters:
    ///   - other: becomes ready when the answer is no longer needed.
    ///   - beforeSignal: as for ``Terminal``.
    package func ask(
        _ text: String, isEchoed: Bool, unless other: Polling.Interest?,
        into answer: inout OutputSpan<UInt8>,
        beforeSignal: @escaping (SignalQueue.Signal) -> Void = { _ in }
    ) throws(PAMCheckFailure.Reason) -> Terminal.PromptOutcome {
        do throws(TerminalError) {
            let terminal = try Terminal()
            try showPurpose(on: terminal)
            return try terminal.ask(
                ModuleTerminal.fit(text), echo: isEchoed, until: deadline, unless: other,
                into: &answer, beforeSignal: beforeSignal)
        } catch {
            throw PAMCheckFailure.Reason(error)
        }
    }

    private func showPurpose(on terminal: borrowing Terminal) throws(TerminalError) {
        guard !hasShownPurpose, !purpose.isEmpty else { return }
        try terminal.write(purpose.visibleOnTerminal + "\n")
        hasShownPurpose = true
    }

    /// A module's text, made safe for a terminal: line breaks are the only control characters left.
    private static func fit(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in String(line.map { $0 == "\t" ? " " : $0 }).visibleOnTerminal }
            .joined(separator: "\n")
    }
}
