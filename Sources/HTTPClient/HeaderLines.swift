internal import CCurl

/// A list of lines in libcurl's format, freed with the value.
@safe final class HeaderLines {
    private(set) var list: UnsafeMutablePointer<curl_slist>?

    func append(_ line: String) throws(HTTPFailure) {
        guard let longer = unsafe curl_slist_append(list, line) else { throw .outOfMemory }
        unsafe list = longer
    }

    deinit { unsafe curl_slist_free_all(list) }
}
