#if os(Linux)
    /// Memory that every exchange of a loop uses for the length of one call.
    final class Workbench {
        /// Where decoded bytes are put before the receiver sees them.
        let decoded = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        /// Field names and lines seen before.
        @exclusivity(unchecked) var fields = FieldCache()
        /// The peer whose address was last made into text.
        @exclusivity(unchecked) var peer = PeerAddress()

        init() {}

        deinit { decoded.deallocate() }
    }
#endif
