import CommandLineInterface
import SecretVault
import VaultService
import WatchwordCryptography

extension DuplicateChoices {
    /// Asks about each name; an answer in upper case also applies to the rest.
    ///
    /// - Parameter isCompared: whether the entries with these names are known to have other keys.
    mutating func ask(about names: [EntryName], isCompared: Bool, _ session: Session) throws {
        guard !names.isEmpty else { return }
        let heading =
            switch (isCompared, names.count) {
            case (true, 1):
                "The vault has an entry with this name and another key or other parameters:"
            case (true, _):
                "The vault has entries with these names and other keys or parameters:"
            case (false, 1):
                "The vault has an entry with this name that requires confirmation at each use:"
            case (false, _):
                "The vault has entries with these names that require confirmation at each use:"
            }
        session.printer.note(heading)
        var rest: DuplicatePolicy?
        for (index, name) in names.enumerated() {
            if let rest {
                choose(rest, for: name)
                continue
            }
            let place = names.count == 1 ? "" : " (\(index + 1) of \(names.count))"
            let answer = try DuplicateChoices.answer(for: name.visible + place)
            choose(answer.policy, for: name)
            if answer.appliesToRest { rest = answer.policy }
        }
    }

    private static func answer(
        for name: String
    ) throws -> (policy: DuplicatePolicy, appliesToRest: Bool) {
        while true {
            let answer = try Question.duplicate(name).ask()
            // The answer is not secret.
            let letters = answer.withBytes { bytes in bytes.indices.map { bytes[$0] } }
            switch String(decoding: letters, as: UTF8.self) {
            case "r": return (.replace, false)
            case "R": return (.replace, true)
            case "k": return (.keep, false)
            case "K": return (.keep, true)
            case "s", "": return (.skip, false)
            case "S": return (.skip, true)
            default: break
            }
        }
    }
}
