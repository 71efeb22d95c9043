internal import CMicroHTTPD
internal import Glibc

extension Exchange {
    /// The target, while nothing else is known; `nil` after the head has been examined.
    var targetOfNewRequest: [UInt8]? {
        withStage { stage in
            if case .begun(let target) = stage { target } else { nil }
        }
    }
}

extension RequestHead.Part {
    /// A part in libmicrohttpd's buffer.
    fileprivate init?(_ start: UnsafePointer<CChar>?, count: Int? = nil) {
        guard let start = unsafe start else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count ?? strlen(start))
        self.init(start: UInt(bitPattern: start), bytes: unsafe Array(bytes))
    }
}

extension RequestHead {
    /// Collects the parts of the head that `connection` has just received.
    init?(
        method: UnsafePointer<CChar>?, target: (UnsafePointer<CChar>?, [UInt8]),
        version: UnsafePointer<CChar>?, connection: OpaquePointer
    ) {
        guard let method = unsafe Part(method), let version = unsafe Part(version),
            let place = unsafe target.0
        else { return nil }
        var fields = FieldCollection()
        let count = unsafe withUnsafeMutablePointer(to: &fields) { fields in
            unsafe MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { context, _, name, nameSize, value, valueSize in
                    let fields = unsafe context?.assumingMemoryBound(to: FieldCollection.self)
                    guard let name = unsafe Part(name, count: nameSize),
                        let value = unsafe Part(value, count: valueSize)
                    else { return .NO }
                    unsafe fields?.pointee.all.append((name, value))
                    return .YES
                }, fields)
        }
        guard Int(count) == fields.all.count else { return nil }
        unsafe self.init(
            method: method,
            target: Part(start: UInt(bitPattern: place), bytes: target.1),
            version: version, fields: fields.all,
            size: unsafe mhd_request_header_size(connection))
    }
}

private struct FieldCollection {
    var all: [(name: RequestHead.Part, value: RequestHead.Part)] = []
}
