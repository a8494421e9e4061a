/// Durations are numbers of nanoseconds.
extension AttemptTimings: Codable {
    /// Reads timings; missing durations are `nil`, missing sizes 0.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func duration(_ key: CodingKeys) throws -> Duration? {
            try values.decodeIfPresent(Int64.self, forKey: key).map { .nanoseconds($0) }
        }
        func size(_ key: CodingKeys) throws -> Int64 {
            try values.decodeIfPresent(Int64.self, forKey: key) ?? 0
        }
        self.init()
        queued = try duration(.queued)
        nameLookedUp = try duration(.nameLookedUp)
        connected = try duration(.connected)
        secured = try duration(.secured)
        firstByte = try duration(.firstByte)
        finished = try duration(.finished)
        bytesSent = try size(.bytesSent)
        bytesReceived = try size(.bytesReceived)
        headBytesReceived = try size(.headBytesReceived)
        reusedConnection = try values.decodeIfPresent(Bool.self, forKey: .reusedConnection)
    }

    /// Writes the timings; durations that are `nil` are left out.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let durations: [(CodingKeys, Duration?)] = [
            (.queued, queued), (.nameLookedUp, nameLookedUp), (.connected, connected),
            (.secured, secured), (.firstByte, firstByte), (.finished, finished),
        ]
        for (key, duration) in durations {
            try values.encodeIfPresent(duration?.wholeNanoseconds, forKey: key)
        }
        try values.encode(bytesSent, forKey: .bytesSent)
        try values.encode(bytesReceived, forKey: .bytesReceived)
        try values.encode(headBytesReceived, forKey: .headBytesReceived)
        try values.encodeIfPresent(reusedConnection, forKey: .reusedConnection)
    }

    private enum CodingKeys: String, CodingKey {
        case queued, nameLookedUp, connected, secured, firstByte, finished
        case bytesSent, bytesReceived, headBytesReceived, reusedConnection
    }
}
