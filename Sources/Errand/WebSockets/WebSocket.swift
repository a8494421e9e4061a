public import ErrandCore
public import ErrandSystem
import ErrandWebSocket

/// An open WebSocket of a ``MessageEndpoint``.
///
/// It may be used from any task. When its last reference, and that of its ``messages``, is released, it is closed with
/// 1000. Cancelling the task that reads the messages closes it with 1001; cancelling ``task`` ends the connection at
/// once.
public final class WebSocket<Incoming: Sendable, Outgoing: Sendable>: Sendable {
    /// The 101 response.
    public var response: Response { stream.response }
    /// The task of the request, which ends with the connection.
    public var task: RequestTask { stream.task }
    /// The subprotocol that the server has chosen; `nil` for none.
    public let subprotocol: String?
    /// The time between the last PING and its PONG; `nil` before the first PONG.
    public var roundTrip: Duration? { driver.roundTrip }

    /// How the connection has ended; `nil` while it is open or closing.
    public var closed: WebSocketClose? { driver.closed }

    let driver: WebSocketDriver
    private let stream: ResponseStream

    init(_ stream: ResponseStream, _ driver: WebSocketDriver) {
        (self.stream, self.driver) = (stream, driver)
        subprotocol = driver.agreement.subprotocol
        driver.keep(stream)
    }

    deinit { driver.close(.normal) }

    var description: RequestDescription { task.description }

    /// Closes the connection (RFC 6455 §7.1.2); returns at once.
    ///
    /// ``messages`` end when the server has closed it, too. It has no effect on a connection that is closed already, or
    /// that is closing.
    ///
    /// - Parameters:
    ///   - code: Default ``WebSocketClose/Code/normal``. A code that no frame may have is sent as 1000.
    ///   - reason: A text for logs; cut after 123 bytes.
    public func close(_ code: WebSocketClose.Code = .normal, reason: String = "") {
        driver.close(code.isAllowedInFrames ? code : .normal, reason: reason, byUser: true)
    }

    /// The messages of the server; read them once, in one task.
    ///
    /// While the loop is busy, the connection is paused, so the server waits. The sequence ends after a clean close
    /// with 1000, 1001 or without a code; every other end is the error ``RequestError/Code/webSocketClosed``, or that
    /// of the connection. Those of ``Startable/connections(on:)`` end without an error. A message that cannot be decoded
    /// is an error, after which the next ones can be read.
    ///
    /// After the first message was asked for, ``fragments`` are the error ``RequestError/Code/invalidCombination``.
    public var messages: Messages { Messages(socket: self) }

    /// The messages of a WebSocket; see ``WebSocket/messages``.
    public struct Messages: AsyncSequence, Sendable {
        let socket: WebSocket

        /// Creates an iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(socket: socket) }

        /// Reads messages.
        public struct Iterator: AsyncIteratorProtocol {
            let socket: WebSocket

            /// The next message; `nil` at the end.
            public mutating func next() async throws(RequestError) -> Incoming? {
                try await socket.next()
            }

            /// The next message; `nil` at the end.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(RequestError) -> Incoming? {
                try await socket.next()
            }
        }
    }

    /// The messages of the server in pieces, as they arrive; read them in place of ``messages``.
    ///
    ///     for try await part in socket.fragments {
    ///         file.write(part.bytes)
    ///         if part.endsMessage { break }
    ///     }
    ///
    /// A piece has at most 128 KiB, and its ends are not those of the server's frames. The connection is paused while the
    /// loop is busy, so a message of any size needs little memory: ``WebSocketOptions/maximumMessageBytes`` has no effect.
    /// Text is checked, but a piece may end within a character. The end is that of ``messages``.
    ///
    /// After the first piece was asked for, ``messages`` are the error ``RequestError/Code/invalidCombination``.
    public var fragments: Fragments { Fragments(socket: self) }

    /// The messages of a WebSocket in pieces; see ``WebSocket/fragments``.
    public struct Fragments: AsyncSequence, Sendable {
        let socket: WebSocket

        /// Creates an iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(socket: socket) }

        /// Reads pieces.
        public struct Iterator: AsyncIteratorProtocol {
            let socket: WebSocket

            /// The next piece; `nil` at the end.
            public mutating func next() async throws(RequestError) -> WebSocketFragment? {
                try await socket.nextFragment()
            }

            /// The next piece; `nil` at the end.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(RequestError) -> WebSocketFragment? {
                try await socket.nextFragment()
            }
        }
    }

    nonisolated(nonsending) private func nextFragment() async throws(RequestError)
        -> WebSocketFragment?
    {
        do throws(RequestError) {
            return try await driver.next(.fragments).map(WebSocketFragment.init)
        } catch {
            throw named(error)
        }
    }

    nonisolated(nonsending) private func next() async throws(RequestError) -> Incoming? {
        do throws(RequestError) {
            guard let message = try await driver.next(.messages) else { return nil }
            return try decode(message)
        } catch {
            throw named(error)
        }
    }

    private func decode(_ message: WebSocketDriver.Message) throws(RequestError) -> Incoming {
        if let bytes = message.bytes as? Incoming { return bytes }
        if Incoming.self == String.self, message.isText,
            let text = String(decoding: message.bytes, as: UTF8.self) as? Incoming
        {
            return text
        }
        guard let type = Incoming.self as? any Decodable.Type, Incoming.self != String.self else {
            throw RequestError(
                .undecodable, stage: .decode,
                "A \(message.isText ? "text" : "binary") message is no \(Incoming.self). Use String or Data, or a "
                    + "Decodable type for JSON.")
        }
        do {
            let decoder = description.jsonDecoder?.value ?? .responseDefault
            if let value = try decoder.decode(type, from: message.bytes) as? Incoming {
                return value
            }
        } catch {
            throw RequestError(
                .undecodable, stage: .decode,
                "A message could not be decoded as \(Incoming.self). See the underlying error.",
                underlying: error)
        }
        throw RequestError(.undecodable, stage: .decode, "A message is no \(Incoming.self).")
    }

    /// An error with the name of the request.
    func named(_ error: RequestError) -> RequestError {
        var error = error
        error.name(description, task.configuration)
        if error.response == nil { error.response = response }
        return error
    }
}

extension WebSocket {
    /// Sends a message; waits while more than 64 KiB are unsent.
    ///
    /// - Throws: ``RequestError/Code/webSocketClosed``; ``RequestError/Code/invalidBody`` if the message cannot be
    ///   encoded; ``RequestError/Code/cancelled``, if nothing was sent.
    nonisolated(nonsending) public func send(_ message: Outgoing) async throws(RequestError) {
        do throws(RequestError) {
            let encoded = try encode(message)
            try await driver.send(encoded.bytes, isText: encoded.isText)
        } catch {
            throw named(error)
        }
    }

    /// Sends a message unless more than 64 KiB are unsent; returns whether it was sent.
    ///
    /// For messages of which only recent ones have a meaning, such as positions: leave out what has no room.
    ///
    /// - Throws: As ``send(_:)``.
    public func trySend(_ message: Outgoing) throws(RequestError) -> Bool {
        do throws(RequestError) {
            let encoded = try encode(message)
            return try driver.trySend(encoded.bytes, isText: encoded.isText)
        } catch {
            throw named(error)
        }
    }

    /// Sends one binary message in fragments, as they come; other messages wait for its end.
    ///
    /// If the sequence fails, or the calling task is cancelled, the connection is closed with 1011, because a message
    /// that was begun cannot be taken back.
    ///
    /// - Throws: ``RequestError/Code/bodyReadFailed`` with the error of the sequence; otherwise as ``send(_:)``.
    nonisolated(nonsending) public func send<Fragments: AsyncSequence>(
        fragments: Fragments
    ) async throws(RequestError) where Fragments.Element == Data {
        do throws(RequestError) {
            try await driver.beginFragments()
            do {
                for try await fragment in fragments {
                    try Task.checkCancellation()
                    try await driver.sendFragment(fragment, endsMessage: false)
                }
                try Task.checkCancellation()
                try await driver.sendFragment(Data(), endsMessage: true)
            } catch {
                if driver.isOpen { driver.close(.internalError) }
                if let error = error as? RequestError { throw error }
                if error is CancellationError { throw .cancelled }
                throw RequestError(
                    .bodyReadFailed, stage: .transport,
                    "The fragments of a message could not be read, so the WebSocket was closed. See the underlying "
                        + "error.", underlying: error)
            }
        } catch {
            throw named(error)
        }
    }

    private func encode(_ message: Outgoing) throws(RequestError) -> WebSocketDriver.Message {
        if let bytes = message as? Data {
            return WebSocketDriver.Message(isText: false, bytes: bytes)
        }
        if let text = message as? String {
            return WebSocketDriver.Message(isText: true, bytes: Data(text.utf8))
        }
        guard let value = message as? any Encodable else {
            throw RequestError(
                .invalidBody, stage: .build,
                "\(Outgoing.self) is no message. Use String or Data, or an Encodable type for JSON."
            )
        }
        do {
            let encoder = description.jsonEncoder(task.configuration)
            return WebSocketDriver.Message(isText: true, bytes: try encoder.encode(value))
        } catch {
            throw RequestError(
                .invalidBody, stage: .build,
                "A message of the type \(Outgoing.self) could not be encoded. See the underlying error.",
                underlying: error)
        }
    }
}

/// A piece of a message; see ``WebSocket/fragments``.
public struct WebSocketFragment: Sendable, Hashable {
    /// Whether the message is text, which is UTF-8.
    public let isText: Bool
    /// The bytes; they may be empty at the end of a message.
    public let bytes: Data
    /// Whether the message ends here.
    public let endsMessage: Bool

    init(_ part: WebSocketDriver.Message) {
        (isText, bytes, endsMessage) = (part.isText, part.bytes, part.endsMessage)
    }
}
