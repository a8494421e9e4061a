import ErrandTransport

/// The options that are set on an easy handle, and which of them the next request may inherit.
///
/// Most requests use the same options, so these are set once per handle. A request that sets more
/// options marks the handle, and it is reset before the next request.
struct AppliedOptions {
    /// Whether options were set that the next request must not inherit.
    private(set) var needsReset = true
    /// The special options that are set, which a request with equal options may inherit.
    private var inheritable: TransportOptions?
    /// The size of the receive buffer; 0 if unknown.
    private var bufferBytes = 0
    /// Whether the handle has a receive buffer of a custom size.
    private var hasCustomBuffer = false
    /// Whether the handle keeps state that would harm the next transfer, such as a pending
    /// repetition.
    private var isTainted = false

    // These options are set again only if their value changes.

    /// The URL; a copy, so that its identity is not given to another one.
    var url: HTTPURL?
    /// The share object for the handle's TLS sessions.
    var sessionShare: UnsafeMutableRawPointer?
    /// Whether the handle is limited to HTTP/1.1.
    var isLimitedToHTTP11 = false
    /// Whether libcurl waits for a connection that can be shared.
    var waitsForSharing = false
    /// Whether libcurl repeats only requests that a server has not processed; see
    /// EasyHandle+Replay.swift.
    var repeatsUnprocessedOnly = false

    // MARK: - Special options

    /// Whether a request inherits the special options that are set.
    func areInherited(by options: TransportOptions) -> Bool {
        inheritable.map { $0 == options } ?? false
    }

    /// Whether the handle has this URL.
    func hasURL(_ target: HTTPURL) -> Bool { url.map { $0.identity == target.identity } ?? false }

    /// Records that an option was set that the next request must not inherit.
    mutating func addedSpecial() { needsReset = true }

    /// Records that all special options of a request are set, and that they are right for other
    /// URLs, too.
    ///
    /// - Parameter isMarked: Whether the options include one that other requests must not inherit.
    mutating func completedSpecial(_ options: TransportOptions, isMarked: Bool) {
        if needsReset || isMarked { inheritable = options }
    }

    /// Records that an option was set that not even a request with equal options must inherit.
    mutating func addedUnique() {
        needsReset = true
        inheritable = nil
    }

    // MARK: - Receive buffer

    /// Returns the size of the receive buffer to set; `nil` if the handle has it.
    ///
    /// If an HTTP/2 head exceeds the buffer, libcurl 7.88 confuses parts of several heads on one
    /// connection, and misses the end of a body that arrives with the head. So the buffer holds the
    /// largest head that libcurl accepts, 128 KB, and 32 KB that it may decrypt at once. Memory that
    /// is never written costs nothing.
    mutating func bufferToSet(custom: Int?, mayBeHTTP2: Bool) -> Int? {
        var bytes = mayBeHTTP2 ? 160 << 10 : 32 << 10
        if let custom {
            // The range that libcurl takes.
            bytes = min(max(custom, mayBeHTTP2 ? bytes : 1 << 10), 10 << 20)
            hasCustomBuffer = true
        }
        return bytes == bufferBytes ? nil : bytes
    }

    /// Records that libcurl has accepted the size of the receive buffer.
    mutating func changedBuffer(to bytes: Int) { bufferBytes = bytes }

    // MARK: - The handle

    /// Records that libcurl has reset all options of the handle.
    ///
    /// A reset keeps the share but not the number of sessions in it, so the share is set again.
    mutating func wereReset() {
        needsReset = true
        inheritable = nil
        bufferBytes = 0
        url = nil
        sessionShare = nil
        isLimitedToHTTP11 = false
        waitsForSharing = false
        repeatsUnprocessedOnly = false
    }

    /// Records that the options of all requests are set after a reset.
    mutating func completedReset() { needsReset = false }

    /// Records that the handle keeps state that would harm its next transfer.
    mutating func taint() { isTainted = true }

    /// Whether the handle must be replaced before the next transfer; libcurl can change neither
    /// its buffer nor its state.
    var needsReplacement: Bool { hasCustomBuffer || isTainted }
}

#if os(Linux)
    import CLibcurl

    /// The memory that the options of an easy handle refer to; it outlives the handle's transfers.
    struct OptionMemory {
        let headers = HeaderList()
        let url = TextBuffer(capacity: 256)
        let parsedURL = ParsedURL()
        let lists = ConnectOptions.Lists()
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

        init() { errorText[0] = 0 }

        /// Frees the memory, after the handle.
        func free() { errorText.deallocate() }
    }

    /// A URL in libcurl's parsed form.
    final class ParsedURL {
        private let handle = curl_url()

        deinit { curl_url_cleanup(handle) }

        /// Parses text as a transfer would; `nil` if it fails.
        func parse(_ text: TextBuffer) -> UnsafeMutableRawPointer? {
            let flags = UInt32(CURLU_PATH_AS_IS | CURLU_DISALLOW_USER)
            guard let handle, curl_url_set(handle, CURLUPART_URL, text.bytes, flags) == CURLUE_OK
            else { return nil }
            return UnsafeMutableRawPointer(handle)
        }
    }
#endif
