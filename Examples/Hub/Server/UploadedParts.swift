import ErrandTesting
import Foundation

/// The parts of a `multipart/form-data` request, by the names of their fields.
struct UploadedParts {
    struct Part {
        var head: String
        var body: Data
    }

    private var parts: [String: Part] = [:]

    init(_ request: LoopbackRequest) {
        let type = request.header("Content-Type") ?? ""
        guard let boundary = type.split(separator: "boundary=").last else { return }
        let delimiter = Data("--\(boundary)".utf8)
        let blank = Data("\r\n\r\n".utf8)
        var rest = request.body[...]
        while let start = rest.range(of: delimiter) {
            rest = rest[start.upperBound...]
            guard let end = rest.range(of: delimiter), let head = rest.range(of: blank) else {
                return
            }
            let lines = String(decoding: rest[..<head.lowerBound], as: UTF8.self)
            // A line break precedes the delimiter.
            let body = rest[head.upperBound..<end.lowerBound].dropLast(2)
            let name = lines.split(separator: " name=\"").dropFirst().first?.prefix { $0 != "\"" }
            if let name { parts[String(name)] = Part(head: lines, body: Data(body)) }
        }
    }

    subscript(name: String) -> Part? { parts[name] }
}
