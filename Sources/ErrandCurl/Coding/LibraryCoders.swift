public import ErrandSystem
public import ErrandTransport

/// Compresses request bodies with gzip or deflate, using the system's zlib.
///
///     override var bodyEncoder: (any BodyEncoder)? { .gzip }
///
/// zlib is loaded at run time; libcurl itself depends on it. Without zlib, and on systems other
/// than Linux, such a request fails with ``RequestError/Code/unsupported`` before anything is sent.
public struct ZlibBodyEncoder: BodyEncoder, Hashable {
    /// The format of the compressed bytes.
    public enum Format: String, Sendable, Hashable {
        /// gzip (RFC 1952), the coding that servers support most widely.
        case gzip
        /// The zlib format (RFC 1950), which HTTP calls deflate (RFC 9110 §8.4.1.2).
        case deflate
    }

    /// The format of the compressed bytes.
    public let format: Format
    /// The compression level, from 1 (fastest) to 9 (smallest).
    public let level: Int

    /// Creates an encoder.
    ///
    /// - Parameter level: 1 to 9; values outside are clamped. Default 6.
    public init(_ format: Format, level: Int = 6) {
        self.format = format
        self.level = min(max(level, 1), 9)
    }

    /// `gzip` or `deflate`.
    public var contentCoding: String { format.rawValue }

    /// Returns the compressed body.
    ///
    /// - Throws: ``RequestError/Code/unsupported`` if zlib is not available.
    public func encode(_ body: Data) throws -> Data {
        #if os(Linux)
            guard let library = ZlibLibrary.loaded,
                let data = library.compress(body, format: format, level: Int32(level))
            else { throw Self.refusal }
            return data
        #else
            throw Self.refusal
        #endif
    }

    private static var refusal: RequestError {
        RequestError(
            .unsupported, stage: .build,
            "zlib is not available to compress the body. Remove bodyEncoder, or provide another encoder."
        )
    }
}

extension BodyEncoder where Self == ZlibBodyEncoder {
    /// gzip, the coding that servers support most widely.
    public static var gzip: ZlibBodyEncoder { ZlibBodyEncoder(.gzip) }
    /// deflate, in the zlib format.
    public static var deflate: ZlibBodyEncoder { ZlibBodyEncoder(.deflate) }
}

#if os(Linux)
    import CLibcurl
    import ErrandHTTP

    extension ZlibLibrary {
        /// Compresses a whole body; `nil` if zlib fails for lack of memory.
        func compress(_ body: Data, format: ZlibBodyEncoder.Format, level: Int32) -> Data? {
            body.withUnsafeBytes { compress($0, format: format, level: level) }
        }

        private func compress(
            _ input: UnsafeRawBufferPointer, format: ZlibBodyEncoder.Format, level: Int32
        ) -> Data? {
            let stream = ZlibStream()
            let window: Int32 = format == .gzip ? 15 + 16 : 15
            // Method 8 (deflate) is the only method, memory level 8 the default, strategy 0 the
            // default.
            let result = startDeflating(
                stream.address, level, 8, window, 8, 0, ZlibStream.version, ZlibStream.size)
            guard result == 0 else { return nil }
            defer { _ = endDeflating(stream.address) }
            var output = Data()
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            var offset = 0
            while true {
                // zlib's counters have 32 bits.
                let piece = UnsafeRawBufferPointer(
                    rebasing: input[offset..<min(input.count, offset + (1 << 30))])
                let isLast = offset + piece.count == input.count
                let available = stream.setInput(piece)
                let (produced, isFinished) = buffer.withUnsafeMutableBytes { room in
                    let size = stream.setOutput(room)
                    // Z_FINISH (4) after the last byte, else Z_NO_FLUSH. Z_STREAM_END (1) means that the output is
                    // complete.
                    let result = deflate(stream.address, isLast ? 4 : 0)
                    return (size - stream.roomLeft, result == 1)
                }
                let consumed = available - stream.inputLeft
                offset += consumed
                output.append(contentsOf: buffer[..<produced])
                if isFinished { return output }
                guard consumed > 0 || produced > 0 else { return nil }
            }
        }
    }

    /// Decodes gzip with one or several members, and deflate with or without the zlib header, which
    /// some servers omit.
    final class ZlibDecoder: ContentDecoder {
        enum Format { case gzip, deflate }

        private enum Phase { case unopened, open, ended, padded }

        private let library: ZlibLibrary
        private let format: Format
        private let stream = ZlibStream()
        private var phase = Phase.unopened

        init(_ library: ZlibLibrary, format: Format) {
            self.library = library
            self.format = format
        }

        deinit { close() }

        var isFinished: Bool { phase == .ended || phase == .padded }

        func decode(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) -> DecodedStep {
            if phase != .open {
                guard let first = input.first else { return DecodedStep() }
                if first == 0, format == .gzip, isFinished { return skipPadding(input) }
                // After the end only another gzip member may follow (RFC 1952 §2.2).
                let mayOpen =
                    phase == .unopened || (format == .gzip && phase == .ended && first == 0x1F)
                guard mayOpen, open(first) else { return .corrupt }
            }
            let available = stream.setInput(input)
            let room = stream.setOutput(output)
            let result = library.inflate(stream.address, 0)
            let step = DecodedStep(
                consumed: available - stream.inputLeft, produced: room - stream.roomLeft)
            switch result {
            // Z_OK, and Z_BUF_ERROR, which means that more input or output space is needed.
            case 0, -5: return step
            // Z_STREAM_END: zlib has verified length and checksum.
            case 1:
                close()
                phase = .ended
                return step
            default:
                return .corrupt
            }
        }

        /// Skips zero padding after the last member, as gzip does; no other data may follow.
        private func skipPadding(_ input: UnsafeRawBufferPointer) -> DecodedStep {
            phase = .padded
            return DecodedStep(consumed: input.prefix { $0 == 0 }.count)
        }

        private func open(_ first: UInt8) -> Bool {
            stream.reset()
            let window: Int32
            switch format {
            case .gzip: window = 15 + 16
            // The first byte of a zlib header: method deflate, window of up to 32 KiB (RFC 1950
            // §2.2).
            case .deflate: window = first & 0x0F == 8 && first >> 4 <= 7 ? 15 : -15
            }
            let result = library.startInflating(
                stream.address, window, ZlibStream.version, ZlibStream.size)
            guard result == 0 else { return false }
            phase = .open
            return true
        }

        private func close() {
            if phase == .open { _ = library.endInflating(stream.address) }
        }
    }

    /// The functions of libbrotlidec.
    struct BrotliLibrary: Sendable {
        static let loaded = BrotliLibrary()

        let create: errand_brotli_create
        let decode: errand_brotli_decode
        let destroy: errand_brotli_destroy

        private init?() {
            guard let library = SharedLibrary("libbrotlidec.so.1"),
                let create = library.function(
                    "BrotliDecoderCreateInstance", as: errand_brotli_create.self),
                let decode = library.function(
                    "BrotliDecoderDecompressStream", as: errand_brotli_decode.self),
                let destroy = library.function(
                    "BrotliDecoderDestroyInstance", as: errand_brotli_destroy.self)
            else { return nil }
            self.create = create
            self.decode = decode
            self.destroy = destroy
        }
    }

    /// Decodes Brotli (RFC 7932).
    final class BrotliDecoder: ContentDecoder {
        private let library: BrotliLibrary
        private let state: UnsafeMutableRawPointer
        private(set) var isFinished = false

        init?(_ library: BrotliLibrary) {
            guard let state = library.create(nil, nil, nil) else { return nil }
            self.library = library
            self.state = state
        }

        deinit { library.destroy(state) }

        func decode(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) -> DecodedStep {
            guard !isFinished else { return input.isEmpty ? DecodedStep() : .corrupt }
            var available = input.count
            var next = input.bindMemory(to: UInt8.self).baseAddress
            var room = output.count
            var target = output.bindMemory(to: UInt8.self).baseAddress
            let result = library.decode(state, &available, &next, &room, &target, nil)
            guard result != 0 else { return .corrupt }
            isFinished = result == 1
            return DecodedStep(consumed: input.count - available, produced: output.count - room)
        }
    }

    /// The functions of libzstd.
    struct ZstdLibrary: Sendable {
        static let loaded = ZstdLibrary()

        let create: errand_zstd_create
        let limit: errand_zstd_set_parameter
        let decode: errand_zstd_decode
        let destroy: errand_zstd_destroy
        let isError: errand_zstd_is_error

        private init?() {
            guard let library = SharedLibrary("libzstd.so.1"),
                let create = library.function("ZSTD_createDStream", as: errand_zstd_create.self),
                let limit = library.function(
                    "ZSTD_DCtx_setParameter", as: errand_zstd_set_parameter.self),
                let decode = library.function("ZSTD_decompressStream", as: errand_zstd_decode.self),
                let destroy = library.function("ZSTD_freeDStream", as: errand_zstd_destroy.self),
                let isError = library.function("ZSTD_isError", as: errand_zstd_is_error.self)
            else { return nil }
            self.create = create
            self.limit = limit
            self.decode = decode
            self.destroy = destroy
            self.isError = isError
        }
    }

    /// Decodes Zstandard (RFC 8878), one frame or several, with the 8 MiB window limit of RFC 9659.
    final class ZstdDecoder: ContentDecoder {
        /// `ZSTD_d_windowLogMax` in zstd.h.
        private static let windowLimit: Int32 = 100

        private let library: ZstdLibrary
        private let stream: UnsafeMutableRawPointer
        private(set) var isFinished = false

        init?(_ library: ZstdLibrary) {
            guard let stream = library.create() else { return nil }
            self.library = library
            self.stream = stream
            _ = library.limit(stream, Self.windowLimit, 23)
        }

        deinit { _ = library.destroy(stream) }

        func decode(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) -> DecodedStep {
            if isFinished, input.isEmpty { return DecodedStep() }
            var source = errand_zstd_input(bytes: input.baseAddress, size: input.count, position: 0)
            var target = errand_zstd_output(
                bytes: output.baseAddress, size: output.count, position: 0)
            let result = library.decode(stream, &target, &source)
            guard library.isError(result) == 0 else { return .corrupt }
            isFinished = result == 0
            return DecodedStep(consumed: source.position, produced: target.position)
        }
    }
#endif
