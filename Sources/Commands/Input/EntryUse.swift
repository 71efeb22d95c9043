/// What an entry is opened for; whoever is asked is told.
enum EntryUse: Hashable, Sendable {
    case code
    case show
    case verify
    case edit
    case signIn
    /// One of several entries that ask, counted from 1.
    case watch(number: Int, of: Int)
    case export(number: Int, of: Int)
    case replace(number: Int, of: Int)

    /// Whether the presence that unlocking proved was used for another entry before.
    var isFurther: Bool {
        switch self {
        case .code, .show, .verify, .edit, .signIn: false
        case .watch(let number, _), .export(let number, _), .replace(let number, _): number > 1
        }
    }
}
