public import ErrandJSON
public import ErrandSystem
public import HTTPTypes

/// The parts of a body in the format `multipart/form-data` (RFC 7578).
package struct MultipartBody: Sendable {
    package typealias Part = HTTPBody.Part

    /// The parts, in order.
    package var parts: [Part]
    /// The delimiter between the parts, which must not occur in them (RFC 2046 §5.1.1).
    package let boundary: String

    package init(_ parts: [Part] = [], boundary: String? = nil) {
        self.parts = parts
        self.boundary = boundary ?? Self.randomBoundary()
    }

    /// The value of `Content-Type`, with the boundary.
    package var contentType: String {
        "multipart/form-data; \(MultipartType.parameter(boundary))"
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
    /// One part of a multipart body: its headers and its body.
    public struct Part: Sendable {
        /// The name of the form field; `nil` if ``headers`` contains `Content-Disposition`.
        ///
        /// Line breaks and quotes are escaped. A NUL fails the request with ``RequestError/Code/invalidBody``.
        public var name: String?
        /// The file name; `nil` if the part is not a file.
        ///
        /// Line breaks and quotes are escaped. A NUL fails the request with ``RequestError/Code/invalidBody``.
        public var filename: String?
        /// Whether a non-ASCII file name is also sent as `filename*` (RFC 8187; default false).
        ///
        /// RFC 7578 §4.2 forbids it, and servers that understand browsers do not need it.
        public var sendsExtendedFilename = false
        /// The content of the part, with its content type.
        public var body: HTTPBody
        /// Additional header fields; they replace the fields that the other properties generate.
        ///
        /// A name of `HTTPField.Name.custom(_:)` that is not a token fails the request with
        /// ``RequestError/Code/invalidBody``. `HTTPFields` replaces control characters in values by spaces.
        public var headers: HTTPFields

        /// Creates a part from any body.
        public init(
            name: String?, filename: String? = nil, body: HTTPBody, headers: HTTPFields = [:]
        ) {
            self.name = name
            self.filename = filename
            self.body = body
            self.headers = headers
        }

        /// A text field in UTF-8.
        ///
        /// It has no `Content-Type`, as in browsers.
        public static func text(_ name: String, _ text: String) -> Part {
            Part(name: name, body: .string(text, contentType: nil))
        }

        /// A part from bytes in memory.
        ///
        /// - Parameter contentType: The media type; `nil`, the default, derives it from the file name's extension
        ///   or, without a file name, sends none.
        public static func data(
            _ name: String, _ data: Data, filename: String? = nil, contentType: String? = nil
        ) -> Part {
            let type = contentType ?? filename.map { MIMEType.ofFile(named: $0) }
            return Part(name: name, filename: filename, body: .data(data, contentType: type))
        }

        /// A part from a file, which is read while it is sent.
        ///
        /// - Parameters:
        ///   - filename: The file name to send; `nil`, the default, uses the name of the file.
        ///   - contentType: The media type; `nil`, the default, derives it from the file name's extension.
        public static func file(
            _ name: String, _ url: URL, filename: String? = nil, contentType: String? = nil
        ) -> Part {
            let filename = filename ?? url.lastPathComponent
            let type = contentType ?? MIMEType.ofFile(named: filename)
            return Part(name: name, filename: filename, body: .file(url, contentType: type))
        }

        /// A part with a value as JSON; see `HTTPBody.json(_:encoder:)`.
        public static func json(
            _ name: String, _ value: some Encodable & Sendable, filename: String? = nil,
            encoder: JSONWriter? = nil
        ) -> Part {
            Part(name: name, filename: filename, body: .json(value, encoder: encoder))
        }

        /// A part with a value of a type that is not `Sendable` as JSON; see `HTTPBody.json(_:encoder:)`.
        public static func json(
            _ name: String, _ value: some Encodable, filename: String? = nil,
            encoder: JSONWriter? = nil
        ) -> Part {
            Part(name: name, filename: filename, body: .json(value, encoder: encoder))
        }

        /// A part from an async sequence of chunks.
        ///
        /// - Parameters:
        ///   - length: The number of bytes; if `nil`, the whole body has no declared length.
        ///   - isReplayable: Whether the sequence can be created more than once (default true); see ``HTTPBody``.
        ///   - make: Creates the sequence; called once per attempt.
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
}

extension HTTPBody {
    /// A body of several parts in the format `multipart/form-data` (RFC 7578).
    ///
    ///     override var body: HTTPBody? {
    ///         .multipart([.text("title", "Sunset"), .file("photo", photo)])
    ///     }
    ///
    /// Files are read while they are sent. `Content-Length` is sent if the length of every part is known. Arguments of
    /// the endpoint that are placed in the body become text parts before the others.
    ///
    /// - Parameters:
    ///   - parts: The parts, in order.
    ///   - boundary: The delimiter between the parts, which must not occur in them: 1 to 70 characters
    ///     (RFC 2046 §5.1.1). Default `nil`: 128 random bits, which cannot be guessed and placed in a part. An invalid
    ///     boundary fails the request with ``RequestError/Code/invalidBody``.
    public static func multipart(_ parts: [Part], boundary: String? = nil) -> Self {
        let multipart = MultipartBody(parts, boundary: boundary)
        return HTTPBody(multipart: multipart, contentType: multipart.contentType)
    }

    /// The body with arguments as text parts before its own parts; unchanged if it is not multipart.
    package func addingMultipartFields(
        _ arguments: Arguments, encoding: ArgumentEncoding
    ) throws(RequestError) -> HTTPBody {
        guard var multipart else { return self }
        var fields = MultipartFields(encoding: encoding)
        try fields.add(arguments)
        multipart.parts = fields.parts + multipart.parts
        var body = self
        body.storage = .multipart(multipart)
        return body
    }
}
