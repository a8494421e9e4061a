public import ErrandTransport
public import Foundation

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
            guard let library = ZlibCompression.loaded,
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

    /// zlib's compression functions.
    struct ZlibCompression: Sendable {
        static let loaded = ZlibCompression()

        private let start: errand_deflate_init
        private let deflate: errand_inflate
        private let end: errand_inflate_end

        private init?() {
            guard let library = SharedLibrary("libz.so.1"),
                let start = library.function("deflateInit2_", as: errand_deflate_init.self),
                let deflate = library.function("deflate", as: errand_inflate.self),
                let end = library.function("deflateEnd", as: errand_inflate_end.self)
            else { return nil }
            self.start = start
            self.deflate = deflate
            self.end = end
        }

        /// Compresses a whole body; `nil` if zlib fails for lack of memory.
        func compress(_ body: Data, format: ZlibBodyEncoder.Format, level: Int32) -> Data? {
            body.withUnsafeBytes { compress($0, format: format, level: level) }
        }

        private func compress(
            _ input: UnsafeRawBufferPointer, format: ZlibBodyEncoder.Format, level: Int32
        ) -> Data? {
            var stream = errand_zlib_stream()
            let size = Int32(MemoryLayout<errand_zlib_stream>.size)
            let window: Int32 = format == .gzip ? 15 + 16 : 15
            // Method 8 (deflate) is the only method, memory level 8 the default, strategy 0 the
            // default.
            guard start(&stream, level, 8, window, 8, 0, "1", size) == 0 else { return nil }
            defer { _ = end(&stream) }
            var output = Data()
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            var offset = 0
            while true {
                // zlib's counters have 32 bits.
                let piece = UnsafeRawBufferPointer(
                    rebasing: input[offset..<min(input.count, offset + (1 << 30))])
                let isLast = offset + piece.count == input.count
                let step = buffer.withUnsafeMutableBytes { room in
                    advance(&stream, piece, room, isLast: isLast)
                }
                offset += step.consumed
                output.append(contentsOf: buffer[..<step.produced])
                if step.isFinished { return output }
                guard step.consumed > 0 || step.produced > 0 else { return nil }
            }
        }

        private struct Step {
            var consumed: Int
            var produced: Int
            var isFinished: Bool
        }

        private func advance(
            _ stream: inout errand_zlib_stream, _ input: UnsafeRawBufferPointer,
            _ room: UnsafeMutableRawBufferPointer, isLast: Bool
        ) -> Step {
            stream.next_in = input.bindMemory(to: UInt8.self).baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            stream.next_out = room.bindMemory(to: UInt8.self).baseAddress
            stream.avail_out = UInt32(clamping: room.count)
            // Z_FINISH (4) after the last byte, else Z_NO_FLUSH. Z_STREAM_END (1) means that the
            // output is complete.
            let result = deflate(&stream, isLast ? 4 : 0)
            return Step(
                consumed: input.count - Int(stream.avail_in),
                produced: room.count - Int(stream.avail_out), isFinished: result == 1)
        }
    }
#endif
