public import HTTPTypes
import Synchronization

// Trailer fields (RFC 9110 §6.5), which follow the body in the chunked coding (RFC 9112 §7.1.2).
extension HTTPBody {
    /// The body, followed by trailer fields whose values are known after it was read.
    ///
    /// The header `Trailer` announces the names. The closure is called once per attempt, after the last byte of
    /// the body was read, and not if the attempt ends before. It may return some of the names only. The idle limit
    /// counts while it runs. For example:
    ///
    ///     override var body: HTTPBody? {
    ///         .stream { export.rows() }.trailers([.custom("X-Row-Count")]) {
    ///             [.custom("X-Row-Count"): "\(await export.rowCount)"]
    ///         }
    ///     }
    ///
    /// Over HTTP/1.1 a request with trailers is sent chunked and without `Content-Length`. If its transport
    /// cannot send trailers, it fails with ``RequestError/Code/unsupported`` before anything is sent. A retry and a redirect that repeats the body repeat the trailers. After a redirect to
    /// another origin, those with names of credentials are not sent.
    ///
    /// Errors: ``RequestError/Code/invalidHeader``, before anything is sent, for no name, a name that is not a
    /// token, and a field that a recipient needs before the body, such as `Authorization` (RFC 9110 §6.5.1);
    /// after the body, for a name that is not announced. An error that the closure
    /// throws fails the request.
    ///
    /// - Parameters:
    ///   - names: The names of the trailers. They replace those of an earlier call.
    ///   - fields: Returns the trailers.
    public func trailers(
        _ names: [HTTPField.Name],
        fields: @escaping @Sendable () async throws -> HTTPFields
    ) -> HTTPBody {
        adding(TrailerSource(names) { TrailerClosure(fields) })
    }

    /// The body, followed by trailer fields that are computed from its bytes, such as a digest.
    ///
    ///     override var body: HTTPBody? {
    ///         .file(movie).trailers([.custom("Content-Digest")], into: SHA256()) { digest, bytes in
    ///             digest.update(bufferPointer: bytes)
    ///         } fields: { digest in
    ///             [.custom("Content-Digest"): "sha-256=:\(Data(digest.finalize()).base64EncodedString()):"]
    ///         }
    ///     }
    ///
    /// Each attempt begins with a new state. The bytes are those that are sent, after ``BodyEncoder`` and without
    /// the chunked coding. See ``trailers(_:fields:)`` for the errors and the protocol.
    ///
    /// - Parameters:
    ///   - names: The names of the trailers. They replace those of an earlier call.
    ///   - initial: The state before the first byte; evaluated once per attempt.
    ///   - update: Adds the next bytes to the state. It is called on a thread of the transport and must not block.
    ///   - fields: Returns the trailers for the state after the last byte.
    public func trailers<State: Sendable>(
        _ names: [HTTPField.Name], into initial: @escaping @autoclosure @Sendable () -> State,
        update: @escaping @Sendable (inout State, UnsafeRawBufferPointer) -> Void,
        fields: @escaping @Sendable (State) async throws -> HTTPFields
    ) -> HTTPBody {
        adding(
            TrailerSource(names) {
                TrailerReduction(initial(), update: update, fields: fields)
            })
    }

    /// The names of the trailers that follow the body; empty for a body without trailers.
    ///
    /// Transports announce them in the header `Trailer`.
    public var trailerNames: [String] { trailerSource?.names.map(\.rawName) ?? [] }

    /// Throws if a name must not be sent as a trailer.
    ///
    /// - Throws: ``RequestError/Code/invalidHeader``.
    package func checkTrailers() throws(RequestError) { try trailerSource?.check() }

    /// Withholds the trailers with names of credentials, for a request to another origin.
    ///
    /// - Parameters:
    ///   - original: The body that was meant for the previous origin. Names that it does not have are kept, because
    ///     they were added for the new origin.
    ///   - secrets: The names of secrets.
    package mutating func withholdSecretTrailers(
        of original: HTTPBody?, _ secrets: SecretNames
    ) {
        guard let source = trailerSource, let others = original?.trailerSource else { return }
        let secret = source.names.filter { name in
            secrets.isSecret(header: name.rawName) && others.names.contains(name)
        }
        if !secret.isEmpty { trailerSource = source.withholding(secret) }
    }

    private func adding(_ source: TrailerSource) -> HTTPBody {
        var body = self
        body.trailerSource = source
        return body
    }
}

/// The trailers of a body: the announced names, and the closures that make the values.
package final class TrailerSource: Sendable {
    /// The announced names, each once, as written.
    package let names: [HTTPField.Name]
    /// Names whose fields are not sent.
    private let withheld: Set<HTTPField.Name>
    private let make: @Sendable () -> any TrailerProducer

    fileprivate init(
        _ names: [HTTPField.Name], withheld: Set<HTTPField.Name> = [],
        make: @escaping @Sendable () -> any TrailerProducer
    ) {
        var seen = withheld
        self.names = names.filter { seen.insert($0).inserted }
        self.withheld = withheld
        self.make = make
    }

    /// Creates the producer of one attempt.
    package func makeProducer() -> any TrailerProducer { make() }

    /// The fields of one attempt.
    ///
    /// - Throws: ``RequestError/Code/invalidHeader``; the message does not contain the value.
    package func fields(
        _ producer: any TrailerProducer
    ) async throws(RequestError) -> HTTPFields {
        let made: HTTPFields
        do {
            made = try await producer.fields()
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError(
                .bodyReadFailed, stage: .transport,
                "Creating the trailers threw \(type(of: error)); see the underlying error.",
                underlying: error)
        }
        var fields = HTTPFields()
        for field in made where !withheld.contains(field.name) {
            guard names.contains(field.name) else {
                throw Self.invalid(
                    "The trailer \(field.name.rawName) is not announced. "
                        + "Add its name to trailers(_:fields:).", stage: .transport)
            }
            fields.append(field)
        }
        return fields
    }

    /// The trailers without these; `nil` if none remain.
    fileprivate func withholding(_ secret: [HTTPField.Name]) -> TrailerSource? {
        let withheld = withheld.union(secret)
        let rest = TrailerSource(names, withheld: withheld, make: make)
        return rest.names.isEmpty ? nil : rest
    }

    fileprivate func check() throws(RequestError) { try Self.check(names) }

    /// Throws if one of these names must not be announced.
    ///
    /// - Throws: ``RequestError/Code/invalidHeader``.
    package static func check(_ names: [String]) throws(RequestError) {
        try check(names.map(HTTPField.Name.custom))
    }

    private static func check(_ names: [HTTPField.Name]) throws(RequestError) {
        guard !names.isEmpty else {
            throw invalid("The trailers have no names. Announce at least one.", stage: .build)
        }
        for name in names {
            if let fault = name.fault {
                throw invalid("The body has a trailer named \(fault).", stage: .build)
            }
            guard !forbidden.contains(name.canonicalName) else {
                throw invalid(
                    "The field \(name.rawName) must not be a trailer. Send it as a header.",
                    stage: .build)
            }
        }
    }

    /// The fields that a recipient needs before the body (RFC 9110 §6.5.1).
    private static let forbidden: Set<String> = [
        "authorization", "cache-control", "connection", "content-encoding", "content-length",
        "content-range", "content-type", "cookie", "expect", "host", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive",
        "max-forwards", "pragma", "proxy-authorization", "proxy-connection", "range", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    private static func invalid(_ message: String, stage: RequestError.Stage) -> RequestError {
        RequestError(.invalidHeader, stage: stage, message)
    }
}

/// Makes the trailers of one attempt.
package protocol TrailerProducer: Sendable {
    /// Called with the bytes of the body in order, one call at a time.
    func update(_ bytes: UnsafeRawBufferPointer)
    /// Called once, after the last byte.
    func fields() async throws -> HTTPFields
}

/// Trailers that do not depend on the bytes of the body.
private struct TrailerClosure: TrailerProducer {
    private let make: @Sendable () async throws -> HTTPFields

    init(_ make: @escaping @Sendable () async throws -> HTTPFields) { self.make = make }

    func update(_ bytes: UnsafeRawBufferPointer) {}

    func fields() async throws -> HTTPFields { try await make() }
}

/// Trailers from a state that the bytes of the body have changed.
private final class TrailerReduction<State: Sendable>: TrailerProducer {
    // The calls do not overlap; the lock only makes that visible to the compiler.
    private let state: Mutex<State>
    private let change: @Sendable (inout State, UnsafeRawBufferPointer) -> Void
    private let make: @Sendable (State) async throws -> HTTPFields

    init(
        _ initial: State,
        update: @escaping @Sendable (inout State, UnsafeRawBufferPointer) -> Void,
        fields: @escaping @Sendable (State) async throws -> HTTPFields
    ) {
        state = Mutex(initial)
        change = update
        make = fields
    }

    func update(_ bytes: UnsafeRawBufferPointer) { state.withLock { change(&$0, bytes) } }

    func fields() async throws -> HTTPFields { try await make(state.withLock { $0 }) }
}
