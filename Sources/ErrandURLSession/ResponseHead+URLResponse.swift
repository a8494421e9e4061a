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
        if !isEncoded { contentLength = headers[.contentLength].flatMap { Int64($0) } }
    }

    /// Whether URLSession decodes the body.
    var isEncoded: Bool {
        headers[.contentEncoding].map { !["", "identity", "none"].contains($0.lowercased()) }
            ?? false
    }

    /// Whether the head has a Content-Length and an empty or `identity` Transfer-Encoding.
    ///
    /// libcurl ignores the length of such a response and waits for the connection to close.
    var needsLengthFraming: Bool {
        guard status.code != 204, status.code != 304, contentLength != nil else { return false }
        return headers[.transferEncoding].map { ["", "identity"].contains($0.lowercased()) }
            ?? false
    }

    /// The approximate size of the head on the wire, in bytes.
    var wireSize: Int {
        headers.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 }
    }

    /// The announced length of an encoded body; `nil` if the body is not encoded or has no announced length.
    var encodedLength: Int64? {
        contentLength == nil ? headers[.contentLength].flatMap { Int64($0) } : nil
    }

    /// Whether Content-Length has different values, or a value that is not a number (RFC 9112 §6.3).
    var hasContradictoryLength: Bool {
        guard let text = headers[.contentLength] else { return false }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let isNumber = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        return !isNumber || Set(parts).count > 1
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
        while let comma = text[index...].firstIndex(of: ",") {
            index = text.index(after: comma)
            let rest = text[index...].drop { $0 == " " }
            let name = rest.prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " }
            if !name.isEmpty, rest[name.endIndex...].first == "=" {
                lines.append(String(text[start..<comma]))
                start = rest.startIndex
            }
        }
        lines.append(String(text[start...]))
        return lines
    }
}
