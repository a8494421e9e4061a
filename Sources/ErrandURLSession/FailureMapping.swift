import ErrandCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a session's error means.
///
/// NB: on Linux most failures are -1 "unknown", and only libcurl's sentence tells them apart; so sentences
/// are looked at first, codes after.
enum FailureMapping {
    /// The error that a transfer ends with.
    ///
    /// - Parameters:
    ///   - hasHead: The answer's head is there.
    ///   - isEncoded: Its body was being decoded.
    static func error(
        for underlying: any Error, hasHead: Bool = true, isEncoded: Bool = false
    ) -> RequestError {
        let error = underlying as NSError
        let text = error.localizedDescription
        var code = classify(code: error.code, text: text)
        // Where nobody has stopped it, it is the decoder that takes no more: bytes behind the end of the coding.
        if isEncoded, text.lowercased().contains("failed writing received data") {
            code = .badContentEncoding
        }
        // libcurl counts what is missing of a body that never began.
        if code == .truncatedBody, !hasHead { code = .connectionLost }
        return RequestError(
            code, stage: code == .cancelled ? .cancel : .transport, message(code, text),
            underlying: underlying, timeout: code == .timedOut ? .idle : nil)
    }

    static func classify(code: Int, text: String) -> RequestError.Code {
        if code == URLError.cancelled.rawValue { return .cancelled }
        let text = text.lowercased()
        for (code, phrases) in sentences where phrases.contains(where: text.contains) {
            return code
        }
        return codes[code] ?? .transportFailed
    }

    /// Parts of libcurl's sentences, in the order in which they are looked for.
    private static let sentences: [(RequestError.Code, [String])] = [
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
        // On Linux: closed without a byte.
        URLError.badServerResponse.rawValue: .connectionLost,
        URLError.cannotParseResponse.rawValue: .badServerResponse,
        // On Linux: a status line that is none.
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
            case .timedOut: "Nothing came for too long."
            case .cannotFindHost: "The host's name has no address; look at its spelling."
            case .cannotConnect: "Nobody listens there, or the way is closed."
            case .connectionLost: "The connection broke before the answer was complete."
            case .truncatedBody: "The body ended before its announced length."
            case .badContentEncoding: "The answer's content encoding is corrupt or unknown."
            case .badServerResponse: "The server's answer is not HTTP."
            case .certificateRejected: "The server's certificate is not trusted."
            case .clientCertificateRejected: "The server wants a client certificate."
            case .secureConnectionFailed: "The TLS handshake failed."
            case .proxyFailed: "The proxy refused or failed."
            case .cancelled: "The request was cancelled."
            default: "The transfer failed."
            }
        return code == .cancelled ? advice : "\(advice) URLSession says: \(text)"
    }
}
