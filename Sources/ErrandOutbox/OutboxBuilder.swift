import ErrandCore
import ErrandSystem
import ErrandTransport
import HTTPTypes

/// Builds an outbox entry from an endpoint's description.
struct OutboxBuilder {
    let configuration: Configuration
    let transport: any Transport

    /// The entry of a request, with the current `prepare` and arguments of the configuration.
    ///
    /// The configuration's headers are applied at each attempt.
    func entry(
        for description: RequestDescription, at date: Date, maximumBodyBytes: Int
    ) async throws(RequestError) -> OutboxEntry {
        var description = description
        description.prepare(by: configuration)
        try check(description)
        var request = try await adapted(description)
        // Default headers are added again at each attempt. Stored, they would take precedence over
        // the configuration's headers.
        let own = Self.headerNames(of: description)
        for field in DefaultHeaders.fields where !own.contains(field.name) {
            request.headers[fields: field.name] = []
        }
        let body = try request.body.map { (body) throws(RequestError) in
            try bytes(of: body, description, limit: maximumBodyBytes)
        }
        return OutboxEntry(request, of: description, at: date, body: body)
    }

    private func check(_ description: RequestDescription) throws(RequestError) {
        guard !description.isDownload else {
            throw refusal(description, "is a download, which an outbox cannot send")
        }
        // Pins and certificates are not stored; without them, more servers would be trusted than
        // the policy allows.
        guard description.sending.security == nil else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(description.endpoint) has sending.security, which an outbox cannot store. Set "
                    + "it in the configuration of the outbox's agent: transportOptions.security.")
        }
        // The overrides are not stored either; without them, the request could bypass a proxy or
        // exceed a limit.
        guard description.sending.transport.isEmpty else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(description.endpoint) has sending.transport, which an outbox cannot store. Set "
                    + "them in the configuration of the outbox's agent: transportOptions.")
        }
        guard description.acceptance.statuses.ranges != nil else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(description.endpoint) has a closure as acceptance.statuses, which an outbox cannot store. Use "
                    + "codes or a range.")
        }
        // Closures cannot be stored; without them, another request would be sent.
        guard description.interceptors.isEmpty, description.requestProcessors.isEmpty else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(description.endpoint) has interceptors or requestProcessors, which an outbox cannot "
                    + "store. Set them in the configuration of the outbox's agent.")
        }
    }

    /// The request as the pipeline builds it, without the parts that are added at each attempt.
    private func adapted(
        _ description: RequestDescription
    ) async throws(RequestError) -> TransportRequest {
        var description = description
        description.uses.remove(.sharedHeaders)
        return try await PipelineRequest.adapted(description, configuration, transport)
    }

    private static func headerNames(of description: RequestDescription) -> Set<HTTPField.Name> {
        if let custom = description.customRequest {
            return Set(custom.headers.compactMap { HTTPField.Name($0.name) })
        }
        return Set(description.headers.map(\.name))
    }

    private func bytes(
        of body: HTTPBody, _ description: RequestDescription, limit: Int
    ) throws(RequestError) -> Data {
        guard body.trailerNames.isEmpty else {
            throw refusal(description, "has trailers, which cannot be stored")
        }
        let source = try body.makeSource()
        defer { source.close() }
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let read = buffer.withUnsafeMutableBytes { source.read(into: $0) }
            switch read {
            case .bytes(let count): bytes.append(contentsOf: buffer.prefix(count))
            case .end: return bytes
            case .failed(let error): throw error
            case .wait:
                throw refusal(description, "has a stream as its body, which cannot be stored")
            }
            guard bytes.count <= limit else {
                throw refusal(description, "has a body of more than \(limit) bytes")
            }
        }
    }

    private func refusal(_ description: RequestDescription, _ reason: String) -> RequestError {
        RequestError(
            .invalidBody, stage: .build,
            "\(description.endpoint) \(reason). Start it without the outbox, or add a smaller "
                + "request.")
    }
}
