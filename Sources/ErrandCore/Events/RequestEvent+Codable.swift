import ErrandHTTP
import ErrandSystem
import HTTPTypes

/// The form as JSON, for files and other processes; ``RequestEvent/metadata``, ``RequestEvent/response`` and the payloads
/// of messages are not in it.
///
///     {"taskID": "…", "endpoint": "GetUser", "tag": 0, "uptime": 81276000000,
///      "kind": {"type": "headReceived", "attempt": 1, "status": 200}}
///
/// Durations are numbers of nanoseconds, sizes numbers of bytes. Names of members and kinds do not change; members and
/// kinds may be added. A kind that this version does not know is decoded as ``RequestEvent/Kind/unknown(_:)``.
extension RequestEvent: Codable {
    /// Reads an event.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            taskID: try values.decode(UUID.self, forKey: .taskID),
            endpoint: try values.decode(String.self, forKey: .endpoint),
            tag: try values.decode(Int.self, forKey: .tag),
            uptime: .nanoseconds(try values.decode(Int64.self, forKey: .uptime)),
            kind: try values.decode(Kind.self, forKey: .kind))
    }

    /// Writes the event.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(taskID, forKey: .taskID)
        try values.encode(endpoint, forKey: .endpoint)
        try values.encode(tag, forKey: .tag)
        try values.encode(uptime.wholeNanoseconds, forKey: .uptime)
        try values.encode(kind, forKey: .kind)
    }

    private enum CodingKeys: String, CodingKey {
        case taskID, endpoint, tag, uptime, kind
    }
}

/// The form as JSON: an object with the name of the case as `type`, and a member for each associated value.
extension RequestEvent.Kind: Codable {
    /// Reads a kind; one that this version does not know, or with a value that it does not know, is
    /// ``RequestEvent/Kind/unknown(_:)``.
    public init(from decoder: any Decoder) throws {
        let form = try KindForm(from: decoder)
        do {
            self = try form.kind()
        } catch is KindForm.UnknownValue {
            self = .unknown(form.type)
        } catch let missing as KindForm.MissingMember {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "The event \(form.type) has no member \(missing.name)."))
        }
    }

    /// Writes the kind.
    public func encode(to encoder: any Encoder) throws { try KindForm(self).encode(to: encoder) }
}

/// The members of all kinds.
struct KindForm: Codable {
    /// A name or a value of another version.
    struct UnknownValue: Error {}

    struct MissingMember: Error { let name: String }

    var type: String
    var attempt: Int?
    var method: String?
    var url: String?
    var status: Int?
    var bytes: Int64?
    var entries: Int?
    /// In nanoseconds.
    var duration: Int64?
    var host: String?
    var source: String?
    var phase: String?
    var state: String?
    var reason: String?
    var error: RequestError?
    var timings: AttemptTimings?
    var connection: Response.Connection?
    var mismatch: PinMismatch?
    var progress: Progress?
    /// The name of the case of a ``WebSocketEvent``.
    var event: String?
    var subprotocol: String?
    var extensions: String?
    var direction: String?
    var isText: Bool?
    var count: Int?
    var bytesOnWire: Int64?
    var close: WebSocketClose?

    /// The members of the progress.
    struct Progress: Codable {
        var sent: Int64
        var toSend: Int64?
        var received: Int64
        var toReceive: Int64?
        var resumed: Int64
        var sentPerSecond: Double?
        var receivedPerSecond: Double?

        init(_ progress: TransferProgress) {
            (sent, toSend) = (progress.bytesSent, progress.totalBytesToSend)
            (received, toReceive) = (progress.bytesReceived, progress.totalBytesToReceive)
            resumed = progress.resumedBytes
            sentPerSecond = progress.bytesSentPerSecond
            receivedPerSecond = progress.bytesReceivedPerSecond
        }

        var value: TransferProgress {
            var progress = TransferProgress()
            (progress.bytesSent, progress.totalBytesToSend) = (sent, toSend)
            (progress.bytesReceived, progress.totalBytesToReceive) = (received, toReceive)
            progress.resumedBytes = resumed
            progress.bytesSentPerSecond = sentPerSecond
            progress.bytesReceivedPerSecond = receivedPerSecond
            return progress
        }
    }

    init(_ type: String) { self.type = type }

    func require<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else { throw MissingMember(name: name) }
        return value
    }

    /// The value with a name, of an enumeration.
    func named<Value: RawRepresentable<String>>(
        _ text: String?, _ name: String, as _: Value.Type = Value.self
    ) throws -> Value {
        guard let value = Value(rawValue: try require(text, name)) else { throw UnknownValue() }
        return value
    }

    func number() throws -> Int { try require(attempt, "attempt") }
    func time() throws -> Duration { .nanoseconds(try require(duration, "duration")) }
    func size() throws -> Int64 { try require(bytes, "bytes") }
    func link() throws -> Response.Connection { try require(connection, "connection") }

    func code() throws -> HTTPResponse.Status {
        let code = try require(status, "status")
        guard (0...999).contains(code) else { throw UnknownValue() }
        return HTTPResponse.Status(code: code)
    }
}
