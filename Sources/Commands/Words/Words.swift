import Arguments
import Cryptography
import DeviceLogin
import ImageFile
import OneTimePassword
import POSIX
import PictureReader
import SecretVault
import SymbolDrawing

/// The sentences that people read when something did not work; the one type that makes them.
///
/// Each says what, where, and what to do about it. None repeats content.
enum Words {
    /// The sentence for `failure`.
    static func sentence(for failure: CommandFailure) -> String {
        switch failure {
        case .usage(let error): error.sentence(program: Verb.program)
        case .terminal(let error, let question): sentence(for: error, asking: question)
        case .declined: "nothing was done, as you said"
        case .passphrasesDiffer: "the two passphrases are not the same; nothing was changed"
        case .emptyPassphrase: "the passphrase is empty; choose one that nobody guesses"
        case .input(let place, let error): "\(place): " + sentence(for: error)
        case .output(let place, let error): "\(place): " + sentence(for: error)
        case .standardOutput(let failure): "standard output: " + sentence(for: failure)
        case .pictureOnTerminal: "a picture is not written to a terminal; name a file"
        case .noHome: "there is no HOME to keep a vault in; give --vault FILE"
        case .vault(let place, let error):
            "\(place): " + sentence(for: error) + wayBack(from: error, at: place)
        case .presence(let refusal): sentence(for: refusal)
        case .recoveryKey(let place, let error): "\(place): " + sentence(for: error)
        case .login(let name, let error): "\(name): " + sentence(for: error)
        case .noSuchEntry(let name): "no entry is called “\(name)”; see watchword list"
        case .severalEntries(let name, let found):
            "“\(name)” may mean any of these; say more:"
                + found.map { "\n  " + $0 }.joined()
        case .nameTaken(let name):
            "there is an entry “\(name)” already; remove or rename it, or choose another name"
        case .noCodes(let name, .secret):
            "“\(name)” is a plain secret, which makes no codes; see show --reveal"
        case .noCodes(let name, .hotp): "“\(name)” counts; ask for its code with watchword code"
        case .noCodes(let name, _): "“\(name)” makes no codes"
        case .notPlain(let name): "“\(name)” is no plain secret; see show --uri"
        case .eachAsks: "every entry asks for you at each use; name those that you want to watch"
        case .nothingToWatch: "there is no entry whose codes change with time"
        case .key(let place, let error): "\(place): " + sentence(for: error)
        case .keyURI(let place, let error): "\(place): " + sentence(for: error)
        case .notOneAddress(let place, let found):
            "\(place): \(found == 0 ? "no" : String(found)) otpauth:// addresses, where one is "
                + "needed" + (found > 1 ? "; watchword import takes them all" : "")
        case .tooMuchToImport(let limit):
            "the files hold more than \(limit) things to import, and a vault holds 100,000 entries; "
                + "nothing was changed; import fewer files at once"
        case .pictureRefused(let place, let refusal): "\(place): " + sentence(for: refusal)
        case .pictureReader(let failure): sentence(for: failure)
        case .picture(.libraryMissing(let name)): sentence(forMissing: name)
        case .picture(.outOfMemory): "libpng could not write the picture; is there memory left?"
        case .code(.otherMovingFactor):
            "the entry goes by a counter; --at and --next mean nothing to it"
        case .code(.beforeStart): "the time lies before the first period; see --t0"
        case .credential(let error): sentence(for: error)
        case .symbol(let error): sentence(for: error)
        case .cryptography(let failure): sentence(for: failure)
        case .system(let failure): sentence(for: failure)
        }
    }
}
