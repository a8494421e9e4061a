#if os(Linux)
    /// A content coding that can be decoded if its library is installed.
    package enum ContentCoding: String, Sendable, CaseIterable {
        case gzip
        case deflate
        case brotli = "br"
        case zstd

        /// Creates the coding with a name from a header, in lower case.
        package init?(name: String) {
            self.init(rawValue: name == "x-gzip" ? "gzip" : name)
        }

        /// The value of `Accept-Encoding`; empty if no library is available.
        package static let announcement = allCases.filter { $0.isAvailable }
            .map(\.rawValue).joined(separator: ", ")

        /// Whether the coding's library is available.
        package var isAvailable: Bool {
            switch self {
            case .gzip, .deflate: ZlibLibrary.loaded != nil
            case .brotli: BrotliLibrary.loaded != nil
            case .zstd: ZstdLibrary.loaded != nil
            }
        }

        /// Creates a decoder; `nil` if the library is missing or out of memory.
        package func makeDecoder() -> (any ContentDecoder)? {
            switch self {
            case .gzip: ZlibLibrary.loaded.flatMap { ZlibDecoder($0, format: .gzip) }
            case .deflate: ZlibLibrary.loaded.flatMap { ZlibDecoder($0, format: .deflate) }
            case .brotli: BrotliLibrary.loaded.flatMap { BrotliDecoder($0) }
            case .zstd: ZstdLibrary.loaded.flatMap { ZstdDecoder($0) }
            }
        }
    }
#endif
