#if os(Linux)
    /// A content coding that this process can undo, or could if its library were there.
    package enum ContentCoding: String, Sendable, CaseIterable {
        case gzip
        case deflate
        case brotli = "br"
        case zstd

        /// The coding of that name in a header, in lower case.
        package init?(name: String) {
            self.init(rawValue: name == "x-gzip" ? "gzip" : name)
        }

        /// What to announce in `Accept-Encoding`; empty when no library is there.
        package static let announcement = allCases.filter { $0.isAvailable }
            .map(\.rawValue).joined(separator: ", ")

        /// Whether the library is there.
        package var isAvailable: Bool {
            switch self {
            case .gzip, .deflate: ZlibLibrary.loaded != nil
            case .brotli: BrotliLibrary.loaded != nil
            case .zstd: ZstdLibrary.loaded != nil
            }
        }

        /// A new decoder; `nil` when the library is missing or has no memory.
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
