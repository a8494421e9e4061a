#if os(Linux)
    import CLibcurl

    /// The directions of a transfer that are paused in libcurl; the raw value is libcurl's mask.
    struct PausedDirections: OptionSet {
        let rawValue: Int32

        static let receiving = PausedDirections(rawValue: CURLPAUSE_RECV)
        static let sending = PausedDirections(rawValue: CURLPAUSE_SEND)
    }
#endif
