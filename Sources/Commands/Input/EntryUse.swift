/// The purpose of opening an entry, shown in the prompt.
enum EntryUse: Hashable, Sendable {
    case code
    case show
    case verify
    case edit
    case signIn
    /// One of several entries that require confirmation; the first is 1.
    case watch(number: Int, of: Int)
    case export(number: Int, of: Int)
    case replace(number: Int, of: Int)

    /// Whether the confirmation from unlocking was already used for another entry.
    var isFurther: Bool {
        switch self {
        case .code, .show, .verify, .edit, .signIn: false
        case .watch(let number, _), .export(let number, _), .replace(let number, _): number > 1
        }
    }
}
