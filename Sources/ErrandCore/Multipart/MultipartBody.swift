public import Foundation
public import HTTPTypes

/// A body of several parts: `multipart/form-data` (RFC 7578, rows UP-1 to UP-10).
///
/// Files are read while they are sent, and the length is announced whenever every part's is known. For
/// example:
///
///     override var body: HTTPBody? {
///         .multipart(MultipartBody([
///             .text("title", "Sunset"),
///             .file("photo", photoURL),
///         ]))
///     }
public struct MultipartBody: Sendable {
    /// The parts, in order.
    public var parts: [Part]
    /// What separates the parts; must not occur in them.
    ///
    /// 1 to 70 characters of RFC 2046 §5.1.1; others fail the request with
    /// ``RequestError/Code/invalidBody``.
    public let boundary: String

    /// Makes a body.
    ///
    /// - Parameter boundary: `nil` takes 128 random bits, which nobody can guess and put into a part.
    public init(_ parts: [Part] = [], boundary: String? = nil) {
        self.parts = parts
        self.boundary = boundary ?? Self.randomBoundary()
    }

    /// Adds a part at the end.
    public mutating func append(_ part: Part) { parts.append(part) }

    /// What goes out as `Content-Type`.
    public var contentType: String {
        let text = boundary.isToken ? boundary : "\"\(boundary)\""
        return "multipart/form-data; boundary=\(text)"
    }

    /// One part: its headers and its body.
    public struct Part: Sendable {
        /// The field's name; `nil` leaves `Content-Disposition` to ``headers``.
        public var name: String?
        /// The file's name, where the part is a file.
        public var filename: String?
        /// Whether a file name beyond ASCII is sent a second time as `filename*` (RFC 8187; default false).
        ///
        /// Servers that read forms as browsers send them do not need it, and RFC 7578 advises against it.
        public var sendsExtendedFilename = false
        /// The content; its content type is the part's.
        public var body: HTTPBody
        /// Further headers; stronger than those made from the other properties.
        public var headers: HTTPFields

        /// Makes a part of anything that can be a body.
        public init(
            name: String?, filename: String? = nil, body: HTTPBody, headers: HTTPFields = [:]
        ) {
            self.name = name
            self.filename = filename
            self.body = body
            self.headers = headers
        }

        /// A text field.
        ///
        /// Without a content type, as browsers send it: UTF-8.
        public static func text(_ name: String, _ text: String) -> Part {
            Part(name: name, body: .string(text, contentType: nil))
        }

        /// Bytes in memory.
        ///
        /// - Parameter contentType: `nil` goes by the file name's extension; none without a file name.
        public static func data(
            _ name: String, _ data: Data, filename: String? = nil, contentType: String? = nil
        ) -> Part {
            let type = contentType ?? filename.map { MIMEType.ofFile(named: $0) }
            return Part(name: name, filename: filename, body: .data(data, contentType: type))
        }

        /// A file, read while it is sent.
        ///
        /// - Parameters:
        ///   - filename: `nil` takes the file's own.
        ///   - contentType: `nil` goes by the file name's extension.
        public static func file(
            _ name: String, _ url: URL, filename: String? = nil, contentType: String? = nil
        ) -> Part {
            let filename = filename ?? url.lastPathComponent
            let type = contentType ?? MIMEType.ofFile(named: filename)
            return Part(name: name, filename: filename, body: .file(url, contentType: type))
        }

        /// A value as JSON.
        ///
        /// - Throws: ``RequestError/Code/invalidArguments`` when it cannot be encoded.
        public static func json(
            _ name: String, _ value: some Encodable, filename: String? = nil
        ) throws(RequestError) -> Part {
            Part(name: name, filename: filename, body: try .json(value))
        }

        /// Chunks from an async sequence.
        ///
        /// - Parameters:
        ///   - length: The number of bytes; where it is unknown the whole body goes out chunked.
        ///   - isReplayable: Whether the sequence can be made more than once; see ``HTTPBody`` (default true).
        ///   - make: Makes the sequence; called once for each attempt.
        public static func stream<Chunks: AsyncSequence & Sendable>(
            _ name: String, length: Int64? = nil, filename: String? = nil,
            contentType: String = "application/octet-stream", isReplayable: Bool = true,
            _ make: @escaping @Sendable () throws -> Chunks
        ) -> Part where Chunks.Element == Data {
            Part(
                name: name, filename: filename,
                body: .stream(
                    length: length, contentType: contentType, isReplayable: isReplayable, make))
        }
    }

    private static func randomBoundary() -> String {
        var generator = SystemRandomNumberGenerator()
        let bits = [generator.next(), generator.next()]
        return "errand-"
            + bits.map { bits in
                let digits = String(bits, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
    }
}

extension HTTPBody {
    /// Several parts in one body.
    ///
    /// Arguments of the endpoint that go into the body become text parts in front of the others.
    public static func multipart(_ body: MultipartBody) -> Self {
        HTTPBody(multipart: body, contentType: body.contentType)
    }

    /// A value as JSON, object or not.
    ///
    /// - Throws: ``RequestError/Code/invalidArguments`` when it cannot be encoded.
    public static func json(
        _ value: some Encodable, encoding: ArgumentEncoding = ArgumentEncoding()
    ) throws(RequestError) -> Self {
        let node: ArgumentNode
        do {
            node = try ArgumentNodeEncoder.node(of: value)
        } catch {
            throw error as? RequestError
                ?? RequestError(
                    .invalidArguments, stage: .build,
                    "A value of type \(type(of: value)) cannot be encoded as JSON.",
                    underlying: error)
        }
        let bytes = try ArgumentJSONWriter.bytes(of: node, encoding: encoding)
        return .data(Data(bytes), contentType: "application/json")
    }

    /// The same body with arguments as text parts in front, where it has parts; else unchanged (row UP-4).
    func addingMultipartFields(
        _ arguments: Arguments, encoding: ArgumentEncoding
    ) throws(RequestError) -> HTTPBody {
        guard var multipart else { return self }
        var fields = MultipartFields(encoding: encoding)
        try fields.add(arguments)
        multipart.parts = fields.parts + multipart.parts
        return HTTPBody(multipart: multipart, contentType: contentType)
    }
}
