#if os(Linux)
    import CLibcurl
    import ErrandHTTP

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
