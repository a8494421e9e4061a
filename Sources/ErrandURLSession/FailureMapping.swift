import ErrandTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Maps a session's errors to ``RequestError``.
///
/// FoundationNetworking (Swift 6.3.1) reports most failures as -1 (unknown), with libcurl's message as the
/// only distinction. Messages are therefore matched first, then codes.
enum FailureMapping {
    /// The error that a transfer ends with.
    ///
    /// - Parameters:
    ///   - hasHead: Whether the response head was received.
    ///   - isEncoded: Whether URLSession decodes the body.
    static func error(
        for underlying: any Error, hasHead: Bool = true, isEncoded: Bool = false
    ) -> RequestError {
        let error = underlying as NSError
        let text = error.localizedDescription
        var code = classify(code: error.code, text: text)
        // The transfer did not stop reading, so the decoder did: bytes follow the end of the encoded data.
        if isEncoded, text.lowercasedASCII().contains(bytes: "failed writing received data") {
            code = .badContentEncoding
        }
        // libcurl reports a truncated body even if the head did not arrive.
        if code == .truncatedBody, !hasHead { code = .connectionLost }
        return RequestError(
            code, stage: code == .cancelled ? .cancel : .transport, message(code, text),
            underlying: underlying, timeout: code == .timedOut ? .idle : nil)
    }

    static func classify(code: Int, text: String) -> RequestError.Code {
        if code == URLError.cancelled.rawValue { return .cancelled }
        let text = text.lowercasedASCII()
        for (code, phrases) in messagePatterns
        where phrases.contains(where: { text.contains(bytes: $0) }) {
            return code
        }
        return codes[code] ?? .transportFailed
    }

    /// Parts of libcurl's messages, in the order of the search.
    private static let messagePatterns: [(RequestError.Code, [String])] = [
        (.proxyFailed, ["proxy", "connect tunnel failed"]),
        (
            .clientCertificateRejected,
            ["certificate required", "bad certificate", "unable to set private key"]
        ),
        (
            .certificateRejected,
            [
                "ssl certificate problem", "no alternative certificate subject name",
                "certificate has expired", "certificate subject name", "certificate verify failed",
                "self-signed certificate", "self signed certificate",
            ]
        ),
        (
            .truncatedBody,
            [
                "transfer closed with", "end of response with", "outstanding read data remaining",
            ]
        ),
        (
            .badContentEncoding,
            ["content unencoding", "content encoding", "content-encoding", "decompress"]
        ),
        (
            .badServerResponse,
            [
                "chunk", "hexadecimal", "http/0.9", "unsupported http", "weird server reply",
                "failed writing header", "header without colon", "nul byte", "nul in header",
                "content-length", "out of memory", "too large header", "too large response",
                "invalid status line",
                "unsupported protocol",
            ]
        ),
        (.connectionLost, ["empty reply", "recv failure", "send failure", "rewind", "seek"]),
        (.cannotFindHost, ["could not resolve"]),
        (.cannotConnect, ["failed to connect", "couldn't connect", "could not connect"]),
        (.secureConnectionFailed, ["ssl", "tls"]),
    ]

    private static let codes: [Int: RequestError.Code] = [
        URLError.timedOut.rawValue: .timedOut,
        URLError.cannotFindHost.rawValue: .cannotFindHost,
        URLError.dnsLookupFailed.rawValue: .cannotFindHost,
        URLError.cannotConnectToHost.rawValue: .cannotConnect,
        URLError.notConnectedToInternet.rawValue: .cannotConnect,
        URLError.networkConnectionLost.rawValue: .connectionLost,
        // On Linux: the connection was closed without a response.
        URLError.badServerResponse.rawValue: .connectionLost,
        URLError.cannotParseResponse.rawValue: .badServerResponse,
        // On Linux: an invalid status line.
        URLError.unsupportedURL.rawValue: .badServerResponse,
        URLError.badURL.rawValue: .invalidURL,
        URLError.cannotDecodeContentData.rawValue: .badContentEncoding,
        URLError.cannotDecodeRawData.rawValue: .badContentEncoding,
        URLError.secureConnectionFailed.rawValue: .secureConnectionFailed,
        URLError.serverCertificateHasBadDate.rawValue: .certificateRejected,
        URLError.serverCertificateUntrusted.rawValue: .certificateRejected,
        URLError.serverCertificateHasUnknownRoot.rawValue: .certificateRejected,
        URLError.serverCertificateNotYetValid.rawValue: .certificateRejected,
        URLError.clientCertificateRejected.rawValue: .clientCertificateRejected,
        URLError.clientCertificateRequired.rawValue: .clientCertificateRejected,
    ]

    private static func message(_ code: RequestError.Code, _ text: String) -> String {
        let advice =
            switch code {
            case .timedOut: "Nothing was sent or received in time."
            case .cannotFindHost: "The host name has no address. Check the name and DNS."
            case .cannotConnect: "Could not connect. Check that the server is running."
            case .connectionLost: "The connection was lost before the response was complete."
            case .truncatedBody: "The body ended before its announced length."
            case .badContentEncoding: "The response's content encoding is corrupt or unknown."
            case .badServerResponse: "The server's response is invalid."
            case .certificateRejected: "The server's certificate is not trusted."
            case .clientCertificateRejected:
                "The server requires a client certificate, or rejected it."
            case .secureConnectionFailed: "The TLS handshake failed."
            case .proxyFailed: "The proxy refused or failed."
            case .cancelled: "The request was cancelled."
            default: "The transfer failed."
            }
        return code == .cancelled ? advice : "\(advice) URLSession reported: \(text)"
    }
}
