internal import Cryptography
internal import ExportReading
internal import ImageFile
internal import PictureReader

/// Reads a file that is a picture or an export, which is decided by its content.
func readFile(_ file: SecretBytes, password: SecretBytes?) -> ExportFinding {
    let picture = password == nil ? findSymbols(in: file) : .notAPicture
    guard case .notAPicture = picture else { return .picture(picture) }
    do {
        return .export(try readExport(file, password: password))
    } catch {
        return .refused(error)
    }
}

/// Reads the symbols of a picture.
///
/// Only the beginning of another file is copied to memory that is not wiped.
private func findSymbols(in file: SecretBytes) -> PictureFinding {
    let beginning = file.withBytes { [UInt8](copying: $0.extracting(first: 512)) }
    do throws(ImageFileError) {
        _ = try EncodedImage(beginning)
    } catch .notAPicture {
        return .notAPicture
    } catch {
        // It is a picture; the rest may be what the beginning lacks.
    }
    return findSymbols(in: file.withBytes { [UInt8](copying: $0) })
}
