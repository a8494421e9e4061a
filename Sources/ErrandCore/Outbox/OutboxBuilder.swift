import Foundation
import HTTPTypes

/// Makes of an endpoint's description what an outbox keeps: everything that can be known now is.
struct OutboxBuilder {
    private let configuration: Configuration

    init(_ configuration: Configuration) { self.configuration = configuration }

    /// The entry; the configuration's headers are left to the moment of sending, its arguments are taken now.
    func entry(
        for description: RequestDescription, at date: Date, maximumBodyBytes: Int
    ) async throws(RequestError) -> OutboxEntry {
        guard description.download == nil else {
            throw refusal(description, "is a download, which is for whoever waits for its file")
        }
        let configuration = try configuration.inEnvironment()
        var request = try RequestBuilder().build(
            description, configuration: configuration, sharedHeaders: [:],
            sharedArguments: try await Self.arguments(of: configuration, for: description),
            relativeURL: description.url)
        // Said anew by whoever sends it.
        request.headers[.userAgent] = nil
        let body = try request.body.map { (body) throws(RequestError) in
            try bytes(of: body, description, limit: maximumBodyBytes)
        }
        return OutboxEntry(request, of: description, at: date, body: body)
    }

    private static func arguments(
        of configuration: Configuration, for description: RequestDescription
    ) async throws(RequestError) -> Arguments {
        guard description.usesSharedArguments else { return [:] }
        guard let provider = configuration.argumentProvider else {
            return configuration.sharedArguments
        }
        do {
            return configuration.sharedArguments.merging(try await provider())
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError(
                .adaptationFailed, stage: .adapt,
                "The provider of shared arguments threw \(type(of: error)); nothing was kept. The thrown error is underlying.",
                underlying: error)
        }
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
