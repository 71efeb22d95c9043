public import Interchange

/// The result of reading a file that may be a picture or an export, in the reader's process.
public enum ExportFinding: Sendable {
    /// The file is a picture.
    case picture(PictureFinding)
    /// The file is an export.
    case export(Export)
    /// The file is neither, or is an export that could not be read.
    case refused(ExportError)
}
