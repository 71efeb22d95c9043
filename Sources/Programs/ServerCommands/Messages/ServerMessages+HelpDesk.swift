import CommandLineInterface
import Courier
import QRDrawing
import WatchwordSystem

extension ServerMessages {
    static let codePrompt = "First code of the authenticator: "
    static let wrongCode = "the code is wrong; wait for the next one"
    static let enrolled = "The authenticator is enrolled."
    static let ticket =
        "Within ten minutes, the user runs watchword-enrol add --ticket and enters this ticket."

    static func disabled(_ credential: String) -> String {
        "\(credential.visibleOnTerminal) is disabled after too many failures; revoke it, and enrol the "
            + "user again"
    }

    /// The messages about requests to `server`.
    static func courier(at server: ServerAddress?) -> CourierMessages {
        CourierMessages(
            about: server, startedBy: ServerVerb.program, trusting: "use --ca-file FILE")
    }

    /// The sentence for a request that was refused.
    static func sentence(
        for problem: HelperResponse.Problem, at server: ServerAddress?
    ) -> String {
        switch problem.kind {
        case "missing-scope":
            "the API key lacks a scope: subject enrol needs enrol, events needs audit, and the other "
                + "commands need manage"
        case "unknown-credential": "the credential no longer exists"
        case "too-many-credentials": "the subject has too many credentials; revoke one first"
        default: courier(at: server).sentence(for: problem)
        }
    }

    static func sentence(for error: TerminalError) -> String {
        switch error {
        case .none: "the first code needs a terminal; use --json, and confirm the key over the API"
        case .ended: "no code was entered; the key expires in ten minutes"
        case .tooLong: "the code is too long"
        case .interrupted: "interrupted"
        case .system(let failure): sentence(for: failure)
        }
    }

    static func sentence(for error: QRDrawingError) -> String {
        switch error {
        case .libraryMissing(let name): "\(name) is not installed; it draws QR codes"
        case .empty, .tooLong: "the key does not fit into a QR code; use shorter names"
        case .encodingFailed, .noMemoryForPicture: "there is not enough memory for a QR code"
        }
    }
}
