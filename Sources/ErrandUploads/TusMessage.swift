import ErrandHTTP
import ErrandSystem
import HTTPTypes

/// One request of the protocol tus 1.0.
enum TusRequest: Sendable, Equatable {
    /// Asks for the versions, extensions and limits of the server.
    case options
    /// Creates an upload.
    case create(length: Int64)
    /// Asks for the offset of an upload.
    case offset(url: String)
    /// Sends a piece of the file.
    case append(url: String, Piece)
    /// Removes an upload.
    case terminate(url: String)

    /// A range of the file, and the algorithm of its checksum; `nil` sends none.
    struct Piece: Sendable, Equatable {
        var offset: Int64
        var length: Int64
        var algorithm: String?

        var end: Int64 { offset + length }
    }
}

/// The parts of a response that the protocol uses.
struct TusResponse: Sendable, Equatable {
    var status: Int
    /// `Tus-Version`.
    var versions: [String] = []
    /// `Tus-Extension`.
    var extensions: Set<String> = []
    /// `Tus-Checksum-Algorithm`.
    var algorithms: [String] = []
    /// `Tus-Max-Size`.
    var maximumSize: Int64?
    /// `Upload-Offset`; `nil` if it is missing or not a number.
    var offset: Int64?
    /// `Upload-Length`.
    var length: Int64?
    /// `Upload-Expires`.
    var expires: Date?
    /// The absolute URL of `Location`, without user info and fragment; `nil` if it is missing or
    /// must not be used.
    var location: String?
    /// `Retry-After`.
    var retryAfter: Duration?

    var isSuccess: Bool { 200..<300 ~= status }

    init(status: Int) { self.status = status }

    init(_ response: Response, now: Date) {
        let headers = response.headers
        status = response.statusCode
        versions = Self.list(headers[tus: "Tus-Version"])
        extensions = Set(Self.list(headers[tus: "Tus-Extension"]))
        algorithms = Self.list(headers[tus: "Tus-Checksum-Algorithm"])
        maximumSize = Self.number(headers[tus: "Tus-Max-Size"])
        offset = Self.number(headers[tus: "Upload-Offset"])
        length = Self.number(headers[tus: "Upload-Length"])
        expires = headers[tus: "Upload-Expires"].flatMap { HTTPDate.parse($0, now: now) }
        retryAfter = RetryAfter.duration(headers[.retryAfter], now: now)
        location = Self.location(headers.receivedReferences(.location).first, of: response.url)
    }

    /// The URL of an upload, relative to the URL of the response.
    ///
    /// One with another scheme than http and https, without a host, or with http in a response over
    /// https must not be used.
    static func location(_ text: String?, of base: HTTPURL) -> String? {
        guard let text, var url = try? HTTPURL.resolve(text, against: base) else { return nil }
        url.userInfo = nil
        url.fragment = nil
        guard url.isAbsoluteHTTP, url.host?.isEmpty == false, url.isHTTPS || !base.isHTTPS
        else { return nil }
        return url.string
    }

    private static func list(_ text: String?) -> [String] {
        ListElements(text ?? "").map { $0.lowercasedASCII() }
    }

    /// A number of at least 0 in decimal digits only.
    static func number(_ text: String?) -> Int64? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}

extension HTTPFields {
    /// The combined value of the field with a name that is a valid token.
    subscript(tus name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set { if let name = HTTPField.Name(name) { self[name] = newValue } }
    }
}

/// The field `Upload-Metadata`: keys with values in Base64.
enum TusMetadata {
    /// The value of the field, in the order of the keys; `nil` without metadata.
    ///
    /// - Throws: ``RequestError/Code/invalidHeader`` for a key that is empty, is not ASCII, or contains
    ///   a space, a comma or a control character.
    static func encode(_ metadata: [String: String]) throws(RequestError) -> String? {
        var pairs: [String] = []
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            guard !key.isEmpty, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x2C })
            else {
                throw RequestError(
                    .invalidHeader, stage: .build,
                    "The key \(key.debugDescription) of uploadMetadata must be ASCII without spaces "
                        + "and commas, and not empty.")
            }
            let encoded = Data(value.utf8).base64EncodedString()
            pairs.append(encoded.isEmpty ? key : "\(key) \(encoded)")
        }
        return pairs.isEmpty ? nil : pairs.joined(separator: ",")
    }
}
