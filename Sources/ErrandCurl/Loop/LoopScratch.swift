// Performance annotations: decision 17.

#if os(Linux)
    /// Buffers that all easy handles of a loop use for the duration of one call.
    final class LoopScratch {
        /// The buffer for decoded bytes.
        let decoded = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        /// The cache of field names and header lines.
        @exclusivity(unchecked) var fields = FieldCache()
        /// The peer address that was last converted to text.
        @exclusivity(unchecked) var peer = PeerAddress()

        init() {}

        deinit { decoded.deallocate() }
    }
#endif
