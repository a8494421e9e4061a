#if os(Linux)
    import ErrandTransport

    // Errors of HTTP/2 streams and of the HTTP version.
    extension CurlFailure {
        /// The error for an HTTP/2 stream that either side ended before the response was complete.
        static func streamError(_ context: Context) -> (RequestError.Code, String) {
            let moment = context.isHeadComplete ? "was complete" : "arrived"
            guard let name = http2Error(in: context.text), name != "NO_ERROR" else {
                return (
                    .connectionLost,
                    "\(context.host) ended the HTTP/2 stream before the response \(moment). Try again."
                )
            }
            guard name == "PROTOCOL_ERROR" else {
                return (
                    .connectionLost,
                    "\(context.host) ended the HTTP/2 stream (\(name)) before the response \(moment). Try again."
                )
            }
            // libcurl reports protocol errors found by nghttp2 and those sent by the server in the
            // same way.
            return (
                .badServerResponse,
                "The response from \(context.host) is malformed HTTP/2 (RFC 9113 §8.1.1), or the server reports that "
                    + "the request is. Check the server, or use .http11."
            )
        }

        /// The error name in libcurl's text "was not closed cleanly: NAME (err 1)", or, in later versions, "reset by
        /// server (error 0x1 NAME)".
        static func http2Error(in text: String) -> String? {
            let rest: Substring
            if let start = text.firstRange(ofBytes: "closed cleanly: ")?.upperBound {
                rest = text[start...]
            } else if let start = text.firstRange(ofBytes: " (error 0x")?.upperBound {
                rest = text[start...].firstRange(ofBytes: " ").map { text[$0.upperBound...] } ?? ""
            } else {
                return nil
            }
            let name = rest.utf8.prefix {
                ByteSet.digits.contains($0) || $0 == UInt8(ascii: "_") || $0.asciiLowercase != $0
            }
            return name.isEmpty ? nil : String(Substring(name))
        }

        /// The error for a response version that the request does not allow or its connection
        /// cannot have.
        static func wrongVersion(
            _ version: HTTPVersion, of request: TransportRequest, isPossible: Bool
        ) -> RequestError? {
            switch request.options.httpVersion {
            case .automatic, .http11:
                guard version == .http2, !isPossible else { return nil }
                return badResponse(.versionNotNegotiated)
            case .http2, .http2PriorKnowledge:
                guard version != .http2 else { return nil }
                // The request was sent, so the code is not `unsupported`, which means that nothing
                // was sent.
                return RequestError(
                    .badServerResponse, stage: .transport,
                    "The server responded with \(version.rawValue), but the request requires HTTP/2. "
                        + "It may have processed the request. Use the automatic version.")
            }
        }

        /// The error for a request that requires HTTP/2 over a connection that negotiated another
        /// protocol, and was possibly sent on an earlier connection.
        static func noHTTP2(wasSent: Bool) -> RequestError {
            RequestError(
                wasSent ? .badServerResponse : .unsupported, stage: .transport,
                "The server does not support HTTP/2 over TLS\(wasSent ? " any more" : ""), which the request requires. "
                    + (wasSent ? "" : "Nothing was sent. ") + "Use the automatic version.")
        }

        /// The error for a request that the server requires over HTTP/1.1, and that is not sent
        /// again in this way.
        static func needsHTTP11(_ request: TransportRequest) -> RequestError {
            let reason =
                request.options.httpVersion == .automatic
                ? "It was not sent again, because it is not idempotent or its body cannot be read again. Use .http11."
                : "The request requires HTTP/2. Use the automatic version, or .http11."
            return RequestError(
                .badServerResponse, stage: .transport,
                "\(request.host ?? "The server") requires HTTP/1.1 for the request (HTTP_1_1_REQUIRED). "
                    + reason)
        }

        static var unprocessed: RequestError {
            var error = RequestError(
                .connectionLost, stage: .transport,
                "The server refused the request without processing it. Try again.")
            error.isUnprocessed = true
            return error
        }
    }
#endif
