#if os(Linux)
    import CLibcurl
    import ErrandHTTP

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
#endif
