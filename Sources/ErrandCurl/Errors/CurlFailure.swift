#if os(Linux)
    import CLibcurl
    import ErrandCore

    /// libcurl's results as errors that say what to do.
    enum CurlFailure {
        /// What else is known when libcurl reports an error.
        struct Context {
            /// libcurl's own words for this case; never shown, they may hold addresses and names.
            var text: String
            var host: String
            /// The request's head has gone out.
            var isConnected: Bool
            var isHeadComplete: Bool
            var hasHeadBegun: Bool
            /// What a proxy answered to CONNECT; 0 when none was asked.
            var proxyAnswer: Int
            /// What the TLS library thinks of the proxy's chain; 0 where it has no objection, or has not looked.
            var proxyVerification = 0
            /// The proxy that stands between, where it is certain that one does.
            var proxy: ProxyRoute?
            /// The Unix socket that stands for host and port.
            var unixSocket: String?
            var limits: Timeouts?
        }

        /// The error for a result that is not `CURLE_OK`.
        static func error(_ result: CURLcode, context: Context) -> RequestError {
            if result == CURLE_OPERATION_TIMEDOUT {
                return timedOut(context.isConnected ? .idle : .connect, limits: context.limits)
            }
            if let (code, message) = proxyFault(result, context) {
                return make(code, message, result)
            }
            if refusesClient(context.text) {
                return make(
                    .clientCertificateRejected,
                    "\(context.host) wants a client certificate and has refused the one it got, or got none. "
                        + "Check the SecurityPolicy's clientIdentity.", result)
            }
            if context.proxyAnswer >= 300, !context.isConnected {
                return make(
                    .proxyFailed,
                    "The proxy answered \(context.proxyAnswer) to CONNECT for \(context.host). "
                        + (context.proxyAnswer == 407
                            ? "Put user and password into the proxy's URL."
                            : "Check that the proxy may reach this host."),
                    result)
            }
            let (code, message) = verdict(result, context)
            return make(code, message, result)
        }

        /// Whether the peer has said that it is the client's certificate that it does not like (RFC 8446 §6.2).
        ///
        /// With TLS 1.3 that comes behind the handshake, with the first attempt to read an answer.
        static func refusesClient(_ text: String) -> Bool {
            [
                "alert certificate required", "alert bad certificate",
                "alert unsupported certificate", "alert certificate revoked",
                "alert certificate expired", "alert certificate unknown", "alert unknown ca",
            ].contains { text.contains($0) }
        }

        private static func verdict(
            _ result: CURLcode, _ context: Context
        ) -> (RequestError.Code, String) {
            let host = context.host
            switch result {
            case CURLE_URL_MALFORMAT:
                return (.invalidURL, "libcurl does not take the URL. Check its host and port.")
            case CURLE_COULDNT_RESOLVE_HOST:
                return (
                    .cannotFindHost,
                    "\(host) has no address. Check the host's name and the network."
                )
            case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
                return (.proxyFailed, "The proxy cannot be reached or used. Check its URL.")
            case CURLE_COULDNT_CONNECT where context.unixSocket != nil:
                return (
                    .cannotConnect,
                    "Nobody answers at the Unix socket \(context.unixSocket ?? ""). Check the path, who may use it, and that the server runs."
                )
            case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED:
                return (
                    .cannotConnect,
                    "Nobody answers at \(host). Check host and port, and that the server runs."
                )
            case CURLE_PARTIAL_FILE where context.isHeadComplete:
                return (
                    .truncatedBody,
                    "The body of \(host)'s answer ended before its announced length."
                )
            case CURLE_PARTIAL_FILE where context.hasHeadBegun:
                return (headCutOff.code, headCutOff.message)
            // The second over HTTP/2, where others share the connection.
            case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
                return (
                    .connectionLost, "\(host) closed the connection without an answer. Try again."
                )
            case CURLE_SEND_FAIL_REWIND:
                return (lostBeforeAnswer.code, lostBeforeAnswer.message)
            case CURLE_HTTP2_STREAM:
                return streamFault(context)
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2:
                return broken(context)
            case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP_RETURNED_ERROR:
                return (.badServerResponse, "\(host) did not answer in HTTP.")
            case CURLE_BAD_FUNCTION_ARGUMENT where context.isHeadComplete:
                return (
                    .badServerResponse, "A line of the trailers of \(host)'s answer is no field."
                )
            case CURLE_UNSUPPORTED_PROTOCOL:
                return context.isConnected
                    ? (.badServerResponse, "\(host) did not answer in HTTP.")
                    : (.unsupported, "This libcurl cannot carry the URL's scheme.")
            case CURLE_OUT_OF_MEMORY where context.isConnected && !context.isHeadComplete,
                CURLcode(rawValue: 100) where context.isConnected:
                return (
                    .badServerResponse,
                    "A header line of \(host)'s answer is longer than libcurl takes, 100 KB: built in, so that "
                        + "maximumHeadBytes cannot raise it. Have the server send shorter lines."
                )
            case CURLE_BAD_CONTENT_ENCODING:
                return (.badContentEncoding, "The answer's encoding is corrupt or unknown.")
            default:
                return secure(result, context)
                    ?? (
                        .transportFailed,
                        "The transfer from \(host) failed; the underlying error has libcurl's words."
                    )
            }
        }

        /// An HTTP/2 stream that was ended by either side before the answer was there.
        private static func streamFault(_ context: Context) -> (RequestError.Code, String) {
            let moment = context.isHeadComplete ? "was complete" : "came"
            guard let name = http2Error(in: context.text), name != "NO_ERROR" else {
                return (
                    .connectionLost,
                    "\(context.host) ended the HTTP/2 stream before the answer \(moment). Try again."
                )
            }
            guard name == "PROTOCOL_ERROR" else {
                return (
                    .connectionLost,
                    "\(context.host) ended the HTTP/2 stream (\(name)) before the answer \(moment). Try again."
                )
            }
            // libcurl says the same of what nghttp2 finds wrong and of what the server does.
            return (
                .badServerResponse,
                "The answer of \(context.host) breaks the rules of HTTP/2 (RFC 9113 §8.1.1), or the server says that "
                    + "the request does. Have a look at the server, or use .http11."
            )
        }

        /// The name of the code in libcurl's "was not closed cleanly: NAME (err 1)".
        static func http2Error(in text: String) -> String? {
            guard let start = text.firstRange(of: "closed cleanly: ")?.upperBound else {
                return nil
            }
            let name = text[start...].prefix {
                $0 == "_" || $0.isASCII && ($0.isUppercase || $0.isNumber)
            }
            return name.isEmpty ? nil : String(name)
        }

        /// A connection that broke, or that carried what is not HTTP.
        private static func broken(_ context: Context) -> (RequestError.Code, String) {
            let text = context.text
            if text.contains("chunk") {
                return (.badServerResponse, "The chunks of \(context.host)'s answer are malformed.")
            }
            // nghttp2's number for libcurl's own refusal, which it gives to a head that it has no room for.
            if text.contains("returned -902"), !context.isHeadComplete {
                return (
                    .badServerResponse,
                    "The head of \(context.host)'s answer is larger than libcurl takes over HTTP/2, 128 KB: built in, so "
                        + "that maximumHeadBytes cannot raise it. Have the server send fewer headers, or use .http11."
                )
            }
            if text.contains("Too large response headers") || text.contains("header") {
                return (
                    .badServerResponse,
                    "The head of \(context.host)'s answer is larger than libcurl takes, 300 KB: built in, so that "
                        + "maximumHeadBytes cannot raise it. Have the server send fewer headers."
                )
            }
            if context.isHeadComplete {
                return (
                    .connectionLost,
                    "The connection to \(context.host) broke before the answer was complete. Try again."
                )
            }
            return (
                .connectionLost,
                "The connection to \(context.host) broke before an answer came. Try again."
            )
        }

        private static func secure(
            _ result: CURLcode, _ context: Context
        ) -> (RequestError.Code, String)? {
            switch result {
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR,
                CURLE_SSL_INVALIDCERTSTATUS:
                return (
                    .certificateRejected,
                    "The certificate of \(context.host) is not trusted, out of date, or for another host. "
                        + "Check the server's certificate, or name its authority in a SecurityPolicy."
                )
            case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT:
                return (
                    .clientCertificateRejected,
                    "The client certificate is missing, unusable or refused. "
                        + "Check its file, its key and whether \(context.host) accepts it."
                )
            case CURLE_SSL_CACERT_BADFILE:
                return (
                    .invalidConfiguration,
                    "The certificates to trust cannot be read. Check the SecurityPolicy's authorities."
                )
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED,
                CURLE_USE_SSL_FAILED:
                return (
                    .secureConnectionFailed,
                    "No secure connection to \(context.host) came about. "
                        + "Check that it speaks TLS on this port, in a version that is allowed."
                )
            default: return nil
            }
        }

        // MARK: - Errors of our own

        static func timedOut(_ kind: RequestError.TimeoutKind, limits: Timeouts?) -> RequestError {
            let message: String
            switch kind {
            case .connect:
                let limit = limits?.connect.map { " within \($0)" } ?? ""
                message =
                    "No connection came about\(limit). Check the host, or raise timeouts.connect."
            case .idle, .attempt, .total:
                let limit = limits?.idle.map { " for \($0)" } ?? ""
                message = "Nothing was sent or received\(limit). Try again, or raise timeouts.idle."
            }
            return RequestError(.timedOut, stage: .transport, message, timeout: kind)
        }

        static func rejected(_ reason: TrustDecision.Reason, host: String) -> RequestError {
            guard case .pinMismatch(let mismatch) = reason else {
                return RequestError(
                    .certificateRejected, stage: .transport,
                    "The certificate of \(host) is not trusted, or not for it. Check the SecurityPolicy."
                )
            }
            return RequestError(
                .pinMismatch, stage: .transport,
                "\(mismatch.description). Check for an interceptor, or add the server's new key to the pins.",
                underlying: mismatch)
        }

        static func badResponse(_ fault: HeadFault) -> RequestError {
            RequestError(
                .badServerResponse, stage: .transport,
                "The server's answer cannot be accepted. \(fault.message)")
        }

        /// The version is another than the request insists on, or than its connection can have.
        static func wrongVersion(
            _ version: HTTPVersion, of request: TransportRequest, isPossible: Bool
        ) -> RequestError? {
            switch request.options.httpVersion {
            case .automatic, .http11:
                guard version == .http2, !isPossible else { return nil }
                return badResponse(
                    HeadFault("It says that it is HTTP/2, which was not agreed upon."))
            case .http2, .http2PriorKnowledge:
                guard version != .http2 else { return nil }
                return RequestError(
                    .unsupported, stage: .transport,
                    "The server answered in \(version.rawValue), the request insists on HTTP/2. "
                        + "Use the automatic version.")
            }
        }

        static func refused(_ result: CURLcode) -> RequestError {
            make(
                .unsupported,
                "libcurl \(CurlLibrary.linked.version) does not take an option that the request needs.",
                result)
        }

        static var headCutOff: RequestError {
            RequestError(
                .connectionLost, stage: .transport,
                "The connection ended inside the answer's head. Try again.")
        }

        static var endedUnsaid: RequestError {
            RequestError(
                .truncatedBody, stage: .transport,
                "The connection was closed without a word, where its end is the body's: it may be cut off. "
                    + "Have the server announce a length, or close TLS properly.")
        }

        static var lostBeforeAnswer: RequestError {
            RequestError(
                .connectionLost, stage: .transport,
                "A kept connection broke before the answer. The server may have read the request, "
                    + "so it was not sent again by itself.")
        }

        static var unprocessed: RequestError {
            var error = RequestError(
                .connectionLost, stage: .transport,
                "The server has refused the request before it processed it. Try again.")
            error.isUnprocessed = true
            return error
        }

        static var cannotBegin: RequestError {
            RequestError(
                .transportFailed, stage: .transport,
                "The transfer could not begin: the system lacks memory, descriptors or threads.")
        }

        static var shutDown: RequestError {
            RequestError(
                .agentShutDown, stage: .transport,
                "The transport was shut down. Use another one for new requests.")
        }

        static var unknown: RequestError {
            RequestError(.transportFailed, stage: .transport, "The transfer failed.")
        }

        private static func make(
            _ code: RequestError.Code, _ message: String, _ result: CURLcode
        ) -> RequestError {
            RequestError(
                code, stage: .transport, message,
                underlying: CurlError(
                    code: Int(result.rawValue), text: String(cString: curl_easy_strerror(result))))
        }
    }
#endif
