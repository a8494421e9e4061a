import ErrandHTTP
import ErrandSystem

/// The head of an HTTP request to the inspector (RFC 9112 §2 to §6).
///
/// A head that two parsers could read differently is refused.
struct CallHead: Sendable {
    /// The reason to refuse a request before its body is read.
    enum Fault: Error, Sendable, Equatable {
        /// The head is longer than ``CallInput/maximumHead``.
        case headTooLarge
        /// The request line or a field line is not valid.
        case malformed
        /// The version is not HTTP/1.0 or HTTP/1.1.
        case version
        /// The body has no `Content-Length`.
        case transferCoding
        /// The body is larger than ``CallInput/maximumBody``.
        case bodyTooLarge

        /// The response to the request.
        var reply: InspectorAPI.Reply {
            switch self {
            case .headTooLarge:
                .failure(431, "The head is larger than \(CallInput.maximumHead) bytes.")
            case .malformed: .failure(400, "The head of the request is not valid HTTP/1.1.")
            case .version: .failure(505, "Use HTTP/1.1.")
            case .transferCoding: .failure(411, "Send the body with a Content-Length.")
            case .bodyTooLarge:
                .failure(413, "The call is larger than \(CallInput.maximumBody) bytes.")
            }
        }
    }

    /// The method, as sent.
    let method: String
    /// The path of the target, as sent.
    let path: String
    /// The decoded arguments; of several with one name, the first.
    let query: [String: String]
    /// The length of the body in bytes.
    let contentLength: Int
    /// Whether the client closes the connection after the response, or expects the server to do so.
    let isLast: Bool
    /// Whether the client waits for a 100 response before it sends the body.
    let expectsContinue: Bool
    /// The fields that decide about access.
    let access: AccessCheck.Fields

    /// Fields that decide about framing or access, and may occur once.
    private static let single: Set<String> = [
        "host", "origin", "sec-fetch-site", "authorization", "content-length",
    ]

    /// Parses the lines of a head.
    ///
    /// - Parameter lines: The request line and the field lines without their line ends.
    init(_ lines: [ArraySlice<UInt8>]) throws(Fault) {
        let words = (lines.first ?? []).split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, words[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .malformed
        }
        let parts = words.map { String(decoding: $0, as: UTF8.self) }
        guard parts[0].isToken, !parts[1].isEmpty else { throw .malformed }
        guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else { throw .version }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let (name, value) = try Self.field(line)
            if let earlier = fields[name] {
                guard !Self.single.contains(name) else { throw .malformed }
                fields[name] = "\(earlier), \(value)"
            } else {
                fields[name] = value
            }
        }
        guard let host = fields["host"] else { throw .malformed }
        guard fields["transfer-encoding"] == nil else { throw .transferCoding }
        method = parts[0]
        let target = Self.target(words[1])
        path = target.path
        query = Self.arguments(target.query)
        contentLength = try Self.length(fields["content-length"])
        isLast = parts[2] == "HTTP/1.0" || Self.has("close", in: fields["connection"])
        expectsContinue = Self.has("100-continue", in: fields["expect"])
        access = AccessCheck.Fields(
            // RFC 9112 §3.2.2: the authority of an absolute target replaces the field.
            host: target.authority ?? host, origin: fields["origin"],
            fetchSite: fields["sec-fetch-site"], authorization: fields["authorization"],
            queryToken: query["token"])
    }

    private static func field(
        _ line: ArraySlice<UInt8>
    ) throws(Fault) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: 0x3A) else { throw .malformed }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        var value = line[(colon + 1)...]
        while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        guard name.isToken, value.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
            throw .malformed
        }
        return (name.lowercasedASCII(), String(decoding: value, as: UTF8.self))
    }

    private static func length(_ text: String?) throws(Fault) -> Int {
        guard let text else { return 0 }
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            throw .malformed
        }
        // Too many digits for an integer are too many bytes as well.
        guard let length = Int(text), length <= CallInput.maximumBody else { throw .bodyTooLarge }
        return length
    }

    private static func has(_ word: String, in list: String?) -> Bool {
        ListElements(list ?? "").contains { $0.hasSameBytes(ignoringCase: word) }
    }

    /// Splits a target in origin form or in absolute form (RFC 9112 §3.2).
    private static func target(
        _ bytes: ArraySlice<UInt8>
    ) -> (authority: String?, path: String, query: ArraySlice<UInt8>) {
        var rest = bytes
        var authority: String?
        let scheme = Array("http://".utf8)
        if String(decoding: rest.prefix(scheme.count), as: UTF8.self).lowercasedASCII() == "http://"
        {
            rest = rest.dropFirst(scheme.count)
            let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? rest.endIndex
            authority = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[end...]
        }
        let mark = rest.firstIndex(of: 0x3F) ?? rest.endIndex
        let path = String(decoding: rest[..<mark], as: UTF8.self)
        return (authority, authority != nil && path.isEmpty ? "/" : path, rest[mark...].dropFirst())
    }

    private static func arguments(_ query: ArraySlice<UInt8>) -> [String: String] {
        let pairs = query.split(separator: 0x26).map { pair in
            let mark = pair.firstIndex(of: 0x3D) ?? pair.endIndex
            return (decoded(pair[..<mark]), decoded(pair[mark...].dropFirst()))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: PercentEncoding.decode(bytes), as: UTF8.self)
            ?? String(decoding: bytes, as: UTF8.self)
    }
}
