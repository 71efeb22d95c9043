import POSIX
import PictureReader

// Pictures.
extension Words {
    static func sentence(for refusal: PictureRefusal) -> String {
        switch refusal {
        case .noSymbol(let tried):
            "no QR symbol was found"
                + (tried.isEmpty ? "" : " (tried: \(tried.joined(separator: ", ")))")
        case .notAPicture: "this is no picture"
        case .unsupported(let format): "\(format) pictures are not read; save it as PNG"
        case .damaged: "the picture is damaged"
        case .tooLarge(let limit): tooLarge(limit)
        case .tooManySymbols: "there are more symbols in the picture than anybody would print"
        case .empty: sentence(for: InputFileError.empty)
        case .folder: sentence(for: InputFileError.folder)
        case .notAFile: sentence(for: InputFileError.notAFile)
        case .unreadable(let failure):
            failure.meansMissing
                ? sentence(for: InputFileError.missing)
                : failure.meansForbidden
                    ? sentence(for: InputFileError.forbidden) : sentence(for: failure)
        case .crashed(let signal): "the picture brought its reader down (signal \(signal))"
        case .forbiddenCall: "the picture made its reader reach for what it must not have"
        case .timedOut: "the picture took too long to read"
        case .tooMuchMemory: "the picture took too much memory to read"
        case .badAnswer, .noAnswer: "the picture's reader gave no proper answer"
        }
    }

    static func tooLarge(_ limit: PictureLimit) -> String {
        switch limit {
        case .bytes: "the file is larger than the 32 MiB that are read"
        case .pixels: "the picture has more than the 64 million pixels that are read"
        case .side: "the picture is longer than the 20,000 pixels that are read"
        case .frames: "the picture has more than the 20 frames that are read"
        }
    }

    static func sentence(for failure: PictureReaderFailure) -> String {
        switch failure {
        case .notFound:
            "watchword-reader, which reads pictures, is not beside watchword; install it again"
        case .cannotStart(let failure):
            "watchword-reader does not start: " + sentence(for: failure)
        case .diedAtStart: "watchword-reader ends as it starts; is a library missing?"
        case .notConfined(let failure):
            "watchword-reader could not be confined, and so reads nothing: "
                + sentence(for: failure)
        case .otherVersion: "watchword-reader is of another version; install both again"
        case .system(let failure): sentence(for: failure)
        }
    }
}
