import ErrandTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension ResponseHead {
    private static let maximumFields = 10_000

    /// Creates a head from a URLSession response.
    ///
    /// URLSession changes the capitalisation of names, joins repeated fields and does not keep their order.
    init(_ response: HTTPURLResponse) {
        var headers = HTTPFields()
        let pairs = response.allHeaderFields.compactMap { key, value -> (String, String)? in
            guard let name = key as? String, let value = value as? String else { return nil }
            return (name, value)
        }
        // Sorted by name, because the order of a dictionary differs between runs.
        for (text, value) in pairs.sorted(by: { $0.0 < $1.0 }) {
            guard let name = HTTPField.Name(text) else { continue }
            var values = name == .setCookie ? SetCookieLines.split(value) : [value]
            // HTTPFields traps above 65,535 fields, so a value with too many parts is not split. The size
            // limit of the head still applies to it.
            if headers.count + values.count > Self.maximumFields { values = [value] }
            for value in values { headers.append(HTTPField(name: name, value: value)) }
        }
        self.init(
            status: HTTPResponse.Status(code: min(max(response.statusCode, 0), 999)),
            headers: headers)
        if !isEncoded { contentLength = announcedLength }
    }

    /// The content codings of the body, in lower case, without those that have no effect.
    var contentCodings: [String] {
        guard let text = headers[.contentEncoding] else { return [] }
        return text.pieces(at: ",")
            .map { $0.trimmingBlanks().lowercasedASCII() }
            .filter { !["", "identity", "none"].contains($0) }
    }

    /// Whether URLSession decodes the body.
    var isEncoded: Bool { !contentCodings.isEmpty }

    /// Whether URLSession delivers a decoded body in response to a request.
    func isDecoded(for request: TransportRequest) -> Bool {
        guard request.method != .head, status.code != 204, status.code != 304, encodedLength != 0
        else { return false }
        // Apple's URLSession delivers the bytes of other codings as received. On Linux these fail.
        return isEncoded
            && contentCodings.allSatisfy(["gzip", "x-gzip", "deflate", "br", "zstd"].contains)
    }

    /// Whether the head has a Content-Length and an empty or `identity` Transfer-Encoding.
    ///
    /// libcurl ignores the length of such a response and waits for the connection to close.
    var needsLengthFraming: Bool {
        guard status.code != 204, status.code != 304, contentLength != nil else { return false }
        return headers[.transferEncoding].map { ["", "identity"].contains($0.lowercasedASCII()) }
            ?? false
    }

    /// The approximate size of the head on the wire, in bytes.
    var wireSize: Int {
        headers.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 }
    }

    /// The announced length of an encoded body; `nil` if the body is not encoded or has no announced length.
    var encodedLength: Int64? { isEncoded ? announcedLength : nil }

    /// Whether Content-Length has different values, or a value that is not a number of at most 2^63 - 1 (RFC 9112
    /// §6.3).
    ///
    /// libcurl ignores a larger number, and takes the close of the connection for the end of the body.
    var hasInvalidLength: Bool { headers.contains(.contentLength) && announcedLength == nil }

    /// The value of Content-Length, which may be repeated; `nil` if it is missing or invalid.
    private var announcedLength: Int64? {
        guard let text = headers[.contentLength] else { return nil }
        var length: Int64?
        for part in text.pieces(at: ",", keepingEmpty: true) {
            let digits = part.trimmingBlanks()
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int64(digits), number == length ?? number
            else { return nil }
            length = number
        }
        return length
    }
}

/// Separates `Set-Cookie` fields that URLSession joined with commas.
enum SetCookieLines {
    /// Splits at each comma that is followed by `name=`.
    ///
    /// The comma in a date is not.
    static func split(_ text: String) -> [String] {
        var lines: [String] = []
        var start = text.startIndex
        var index = text.startIndex
        while let comma = text[index...].firstIndex(ofByte: ",") {
            index = text.utf8.index(after: comma)
            let rest = text[index...].dropping(leadingByte: " ")
            let name = rest.utf8.prefix { !ByteSet("=;, ").contains($0) }
            if !name.isEmpty, rest[name.endIndex...].starts(withBytes: "=") {
                lines.append(String(text[start..<comma]))
                start = rest.startIndex
            }
        }
        lines.append(String(text[start...]))
        return lines
    }
}
