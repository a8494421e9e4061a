import Foundation
import HTTPTypes

/// Makes of an endpoint's description what an outbox keeps: everything that can be known now is.
struct OutboxBuilder {
    let configuration: Configuration
    let transport: any Transport

    /// The entry: its address behind the configuration's URL filters, with its arguments, as of now.
    ///
    /// The configuration's headers and its filters of absolute URLs are left to the moment of sending.
    func entry(
        for description: RequestDescription, at date: Date, maximumBodyBytes: Int
    ) async throws(RequestError) -> OutboxEntry {
        try check(description)
        var request = try await adapted(description)
        // Said anew by whoever sends it, or it would be stronger than the configuration's headers.
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
        guard description.download == nil else {
            throw refusal(description, "is a download, which is for whoever waits for its file")
        }
        // Pins and certificates are not written down, and sending it without them would trust more than it may.
        guard description.securityPolicy == nil else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(description.endpoint) has a securityPolicy, which an outbox cannot keep. Set it on the configuration of the outbox's agent: transport.security."
            )
        }
        // A proxy it must take, or a limit it must keep, would be lost likewise.
        guard description.transportOverrides == nil else {
            throw RequestError(
                .unsupported, stage: .build,
                "\(description.endpoint) has transportOverrides, which an outbox cannot keep. Set them on the configuration of the outbox's agent: transport."
            )
        }
    }

    /// The request as the pipeline would make it, without what is left to the moment of sending.
    private func adapted(
        _ description: RequestDescription
    ) async throws(RequestError) -> TransportRequest {
        var description = description
        description.usesSharedHeaders = false
        description.progressHandler = nil
        var configuration = configuration
        configuration.absoluteURLFilters = []
        let context = TaskContext(
            id: TaskID.next(), description: description, configuration: configuration,
            transport: transport, store: nil, clock: SystemClock())
        let result = await withTaskCancellationHandler {
            await Self.adapt(Exchange(context: context))
        } onCancel: {
            context.scope.cancel()
        }
        return try result.get()
    }

    private static func adapt(
        _ exchange: Exchange
    ) async -> Result<TransportRequest, RequestError> {
        do throws(RequestError) {
            let configuration = try exchange.context.sharedConfiguration.inEnvironment()
            return .success(try await RequestAdapter.adapt(exchange, configuration).request)
        } catch {
            return .failure(error)
        }
    }

    private static func headerNames(of description: RequestDescription) -> Set<HTTPField.Name> {
        if let custom = description.customRequest {
            return Set(custom.headers.compactMap { HTTPField.Name($0.name) })
        }
        return Set(description.headers.map(\.name))
            .union(description.headerFieldValues.keys.compactMap { HTTPField.Name($0) })
    }

    private func bytes(
        of body: HTTPBody, _ description: RequestDescription, limit: Int
    ) throws(RequestError) -> Data {
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
            case .wait: throw refusal(description, "has a stream as its body, which cannot be kept")
            }
            guard bytes.count <= limit else {
                throw refusal(description, "has a body of more than \(limit) bytes")
            }
        }
    }

    private func refusal(_ description: RequestDescription, _ why: String) -> RequestError {
        RequestError(
            .invalidBody, stage: .build,
            "\(description.endpoint) \(why). Send it yourself, or give the outbox something smaller."
        )
    }
}
