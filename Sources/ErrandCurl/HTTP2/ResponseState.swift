#if os(Linux)
    import ErrandTransport
    import HTTPTypes

    /// The response to a request that libcurl carries: its head, its body, and what its status
    /// means for the transfer.
    struct ResponseState {
        /// The properties of a final response.
        struct Start {
            let hasBody: Bool
            /// Whether the body ends with the connection or its stream.
            let endsWithConnection: Bool
            /// The length of the body that the receiver gets, if it is known.
            let contentLength: Int64?
            /// The error if the body cannot be received.
            let fault: RequestError?
        }

        var head = HeadReader()
        var body = BodyReader()
        /// Whether the response states HTTP/2.
        private(set) var isHTTP2 = false
        /// Whether the status refuses the request.
        private(set) var isRefusal = false
        /// Whether the response is complete although libcurl would repeat the request.
        private(set) var ignoresRepetition = false

        init() {}

        /// Prepares for the response to another request.
        mutating func reset(_ options: TransportOptions) {
            head.reset(limit: options.maximumHeadBytes)
            body.reset(options)
            isHTTP2 = false
            isRefusal = false
            ignoresRepetition = false
        }

        /// Begins a final response.
        ///
        /// - Parameter isRepeated: Whether libcurl will repeat the request and discard the body.
        mutating func begin(
            _ final: HeadParser.Head, to method: HTTPMethod, isRepeated: Bool
        ) -> Start {
            let status = final.status.code
            let hasBody = method != .head && status != 204 && status != 304 && !isRepeated
            ignoresRepetition = isRepeated
            isHTTP2 = final.version == .http2
            isRefusal = status >= 300
            guard hasBody else {
                body.beginEmpty()
                return Start(
                    hasBody: false, endsWithConnection: false, contentLength: nil, fault: nil)
            }
            let fault = body.begin(final.framing)
            let isChunked = final.framing.isChunked
            return Start(
                hasBody: true,
                endsWithConnection: !isChunked && final.framing.contentLength == nil,
                contentLength: isChunked || body.isDecoding ? nil : final.framing.contentLength,
                fault: fault)
        }

        /// Whether libcurl repeats a request with the same headers and discards the response body.
        ///
        /// It does this for a 417 response that arrives before the request body was sent.
        static func isRepeated(
            status: Int, expectsContinue: @autoclosure () -> Bool, isUploadUnfinished: Bool
        ) -> Bool {
            status == 417 && isUploadUnfinished && expectsContinue()
        }

        /// Whether the response is complete by its head or length, although libcurl goes on.
        var isCompleteEarly: Bool { body.isCompleteByLength || ignoresRepetition }

        /// Whether the head is complete, and the body by its length.
        var isComplete: Bool { head.isComplete && body.isComplete }

        /// Whether a refusal over HTTP/2 has no length.
        ///
        /// Such a body ends with its stream. libcurl 7.88 does not notice that while the rest of
        /// the request waits for flow control, so silence decides.
        var isRefusalWithoutLength: Bool { isRefusal && isHTTP2 && !body.isAnnounced }
    }
#endif
