package import Foundation

/// A part of a multipart body as a server parses it (RFC 2046 §5.1, RFC 7578).
package struct ParsedPart: Equatable {
    package var headers: [String: String]
    package var body: Data

    package init(headers: [String: String], body: Data) {
        self.headers = headers
        self.body = body
    }

    /// A parameter of `Content-Disposition`, with the escapes of the WHATWG form encoding decoded.
    package func disposition(_ parameter: String) -> String? {
        guard let header = headers["content-disposition"],
            let start = header.range(of: "; \(parameter)=\"")
        else { return nil }
        let rest = header[start.upperBound...]
        guard let end = rest.firstIndex(of: "\"") else { return nil }
        return String(rest[..<end])
            .replacingOccurrences(of: "%22", with: "\"")
            .replacingOccurrences(of: "%0D", with: "\r")
            .replacingOccurrences(of: "%0A", with: "\n")
    }
}

/// Parses a multipart body, independently of the encoder; returns `nil` for a malformed body.
package func parseMultipart(_ data: Data, boundary: String) -> [ParsedPart]? {
    let delimiter = Data("\r\n--\(boundary)".utf8)
    // No line break precedes the first delimiter.
    var rest = Data("\r\n".utf8) + data
    guard rest.starts(with: delimiter) else { return nil }
    rest = Data(rest.dropFirst(delimiter.count))
    var parts: [ParsedPart] = []
    while true {
        if rest == Data("--\r\n".utf8) { return parts }
        guard rest.starts(with: Data("\r\n".utf8)), let end = rest.range(of: delimiter) else {
            return nil
        }
        let part = Data(rest[rest.startIndex..<end.lowerBound].dropFirst(2))
        rest = Data(rest[end.upperBound...])
        let headersEnd: Data.Index
        let bodyStart: Data.Index
        if part.starts(with: Data("\r\n".utf8)) {
            (headersEnd, bodyStart) = (0, 2)
        } else {
            guard let blank = part.range(of: Data("\r\n\r\n".utf8)) else { return nil }
            (headersEnd, bodyStart) = (blank.lowerBound, blank.upperBound)
        }
        var headers: [String: String] = [:]
        for line in String(decoding: part[..<headersEnd], as: UTF8.self).components(
            separatedBy: "\r\n") where !line.isEmpty
        {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let name = line[..<colon].lowercased()
            guard headers[name] == nil else { return nil }
            headers[name] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        parts.append(ParsedPart(headers: headers, body: Data(part[bodyStart...])))
    }
}
