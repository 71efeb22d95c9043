import CommandLineInterface
import Pictures
import WatchwordSystem

// Images.
extension Messages {
    static func sentence(for refusal: PictureRefusal) -> String {
        switch refusal {
        case .noSymbol(let tried):
            "no QR code found"
                + (tried.isEmpty ? "" : " (tried: \(tried.joined(separator: ", ")))")
        case .notAPicture: "not an image"
        case .unsupported(let format): "\(format) images are not supported; save the image as PNG"
        case .libraryMissing(let format):
            "\(format.rawValue) images cannot be read: install the package "
                + (format.library?.package ?? "")
        case .damaged: "the image is damaged"
        case .encrypted:
            "an encrypted PDF file; print it to a new PDF file in a viewer, or remove its password "
                + "with qpdf --decrypt, and import the new file"
        case .tooLarge(let limit): tooLarge(limit)
        case .tooManySymbols: "the image has too many QR codes"
        case .empty: sentence(for: FileError.empty)
        case .folder: sentence(for: FileError.folder)
        case .notAFile: sentence(for: FileError.notAFile)
        case .unreadable(let failure):
            failure.isMissing
                ? sentence(for: FileError.missing)
                : failure.isPermissionDenied
                    ? sentence(for: FileError.forbidden) : sentence(for: failure)
        case .lost(let loss):
            HelperMessages.sentence(for: loss, file: "image", reader: "image reader")
        }
    }

    static func sentence(for failure: ScreenshotFailure) -> String {
        switch failure {
        case .refused:
            "no screenshot was taken: the desktop's request for permission was refused; run the "
                + "command again and allow it, or take a screenshot yourself and import its file"
        case .noTool(let names):
            "no screenshot was taken: neither the desktop portal nor one of these programs works "
                + "here: \(names.joined(separator: ", ")); take a screenshot yourself and import its file"
        }
    }

    static func sentence(for failure: CameraFailure) -> String {
        switch failure {
        case .none: "no camera found; import a photo instead"
        case .forbidden(let path):
            "\(path): no permission to use the camera; join the group “video”, or import a photo instead"
        case .busy(let path): "\(path): another program is using the camera; close it and try again"
        case .unknownFormat(let path):
            "\(path): the camera sends neither JPEG nor YUYV; import a photo instead"
        case .system(let failure): sentence(for: failure)
        }
    }

    static func tooLarge(_ limit: PictureLimit) -> String {
        switch limit {
        case .bytes: "the file is larger than 32 MiB"
        case .pixels: "the image has more than 64 million pixels"
        case .side: "the image is wider or taller than 20,000 pixels"
        case .frames: "the image has more than 20 frames"
        }
    }
}
