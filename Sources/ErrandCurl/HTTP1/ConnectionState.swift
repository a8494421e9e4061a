/// The states of an HTTP/1.1 connection as a pure state machine: events in, actions out.
///
///     connecting ─▶ idle ◀─▶ exchanging ─▶ closed
///                               └────────▶ handedOver (after 101) ─▶ closed
///
/// During an exchange the connection sends and receives independently: a server may respond before
/// it has read the whole request (RFC 9112 §9.3, §9.5). Each exchange has exactly one
/// ``Action/end(keepsConnection:)`` or ``Action/fail``. Events that do not fit the state have no
/// effect.
struct ConnectionState: Sendable, Hashable {
    /// The progress of the request.
    enum Sending: Sendable, Hashable {
        case head
        /// The body waits for 100 (Continue), RFC 9110 §10.1.1.
        case awaitingContinue
        case body
        case done
        /// The rest is not sent: the response makes it useless, or the connection failed.
        case stopped
    }

    /// The progress of the response.
    enum Receiving: Sendable, Hashable {
        case head, body, done
    }

    /// A request and its response.
    struct Exchange: Sendable, Hashable {
        var sending = Sending.head
        var receiving = Receiving.head
        var hasBody: Bool
        var expectsContinue: Bool
        /// Whether the connection may carry another request, as far as known.
        var keepsConnection: Bool
    }

    enum Phase: Sendable, Hashable {
        case connecting, idle
        case exchanging(Exchange)
        /// The connection belongs to another protocol; each side may end its direction.
        case handedOver(inputEnded: Bool, outputEnded: Bool)
        case closed
    }

    /// The next action of the connection's owner.
    enum Action: Sendable, Hashable {
        case none
        /// Send the body, or continue to send it when the socket is writable.
        case sendBody
        /// Send no more of the request.
        case stopSending
        /// The response is complete. Without `keepsConnection`, close the connection.
        case end(keepsConnection: Bool)
        /// The exchange has failed; close the connection.
        case fail
        /// Close the idle connection.
        case close
    }

    private(set) var phase = Phase.connecting
    /// Whether the connection has carried a request before the current one.
    private(set) var isReused = false

    /// The current exchange.
    var exchange: Exchange? {
        if case .exchanging(let exchange) = phase { exchange } else { nil }
    }

    /// Whether the server has switched to another protocol.
    var isHandedOver: Bool {
        if case .handedOver = phase { true } else { false }
    }

    /// The progress of the bytes that the client sends; `nil` outside an exchange.
    var sending: Sending? {
        switch phase {
        case .exchanging(let exchange): exchange.sending
        case .handedOver(_, let outputEnded): outputEnded ? .done : .body
        case .connecting, .idle, .closed: nil
        }
    }

    /// Whether the next request may use the connection.
    var isIdle: Bool { phase == .idle }

    /// Whether bytes of the request may be sent.
    var isSending: Bool {
        switch sending {
        case .head, .body: true
        case .awaitingContinue, .done, .stopped, nil: false
        }
    }

    /// Whether a failed request may be sent again on another connection.
    func replayDecision(
        mayReplay: Bool, hasResponseBegun: Bool, isConnectionLost: Bool, isWanted: Bool
    ) -> ReplayDecision {
        ReplayDecision(
            mayReplay: mayReplay, wasReused: isReused, hasResponseBegun: hasResponseBegun,
            isConnectionLost: isConnectionLost, isWanted: isWanted)
    }

    // MARK: - Requests

    /// The connection is established.
    mutating func connected() {
        if phase == .connecting { phase = .idle }
    }

    /// Another path has carried requests on the connection.
    mutating func adopted() { isReused = true }

    /// Starts an exchange on an idle connection; returns false if the connection is not idle.
    ///
    /// - Parameter closes: Whether the request announces that the client closes the connection.
    mutating func begin(hasBody: Bool, expectsContinue: Bool, closes: Bool) -> Bool {
        guard phase == .idle else { return false }
        phase = .exchanging(
            Exchange(
                hasBody: hasBody, expectsContinue: hasBody && expectsContinue,
                keepsConnection: !closes))
        return true
    }

    /// The head is sent.
    mutating func headSent() -> Action {
        update { exchange in
            guard exchange.sending == .head else { return .none }
            guard exchange.hasBody else {
                exchange.sending = .done
                return .none
            }
            exchange.sending = exchange.expectsContinue ? .awaitingContinue : .body
            return exchange.expectsContinue ? .none : .sendBody
        }
    }

    /// The server asks for the body with 100 (Continue), or has not responded in time.
    mutating func continueBody() -> Action {
        update { exchange in
            guard exchange.receiving == .head else { return .none }
            switch exchange.sending {
            case .head:
                exchange.expectsContinue = false
                return .none
            case .awaitingContinue:
                exchange.sending = .body
                return .sendBody
            case .body, .done, .stopped: return .none
            }
        }
    }

    /// The body is sent; after 101, the client ends its direction.
    mutating func bodySent() -> Action {
        if case .handedOver(let inputEnded, false) = phase {
            return ended(input: inputEnded, output: true)
        }
        return update { exchange in
            if exchange.sending == .body { exchange.sending = .done }
            return .none
        }
    }

    /// The rest of the request cannot be sent, because the server has closed the connection.
    ///
    /// The server may have sent a response before (RFC 9112 §9.5), so the exchange continues until
    /// the input ends; so does the other protocol after 101.
    mutating func sendFailed() -> Action {
        if case .handedOver(let inputEnded, _) = phase {
            return ended(input: inputEnded, output: true)
        }
        return update { exchange in
            exchange.keepsConnection = false
            switch exchange.sending {
            case .head, .awaitingContinue, .body: exchange.sending = .stopped
            case .done, .stopped: break
            }
            return .none
        }
    }

    // MARK: - Responses

    /// The head of the final response is complete.
    ///
    /// A response instead of 100 (Continue) suppresses the body. An early refusal makes the rest of
    /// the body useless; an early success does not (RFC 9110 §7.5). The server expects the body that
    /// was announced, so the connection is not used again.
    mutating func headReceived(status: Int) -> Action {
        update { exchange in
            guard exchange.receiving == .head else { return .none }
            exchange.receiving = .body
            let isUseless =
                switch exchange.sending {
                case .awaitingContinue: true
                case .head: exchange.hasBody && (exchange.expectsContinue || status >= 300)
                case .body: status >= 300
                case .done, .stopped: false
                }
            guard isUseless else { return .none }
            exchange.sending = .stopped
            exchange.keepsConnection = false
            return .stopSending
        }
    }

    /// The response is complete.
    ///
    /// - Parameter keepsConnection: Whether the response allows another request on the connection.
    mutating func responseComplete(keepsConnection: Bool) -> Action {
        update { exchange in
            guard exchange.receiving == .body else { return .none }
            exchange.receiving = .done
            if !keepsConnection { exchange.keepsConnection = false }
            return .none
        }
    }

    /// The server has switched to the protocol that the request offers; false if it must not,
    /// because the request is not completely sent (RFC 9110 §7.8) or there is none.
    mutating func switchedProtocols() -> Bool {
        guard let exchange, exchange.sending == .done, exchange.receiving == .head else {
            return false
        }
        phase = .handedOver(inputEnded: false, outputEnded: false)
        return true
    }

    // MARK: - Input outside a response

    /// Input has arrived that does not belong to a response: on an idle connection, or after a
    /// response that is complete before its request (RFC 9112 §9.2).
    mutating func unsolicitedInput() -> Action {
        if phase == .idle { return close() }
        return update { exchange in
            exchange.keepsConnection = false
            return .none
        }
    }

    /// The server has closed its side of the connection.
    ///
    /// After a complete response, the rest of the request has no recipient. An incomplete response
    /// ends by ``responseComplete(keepsConnection:)`` or ``failed()`` before this event. After 101,
    /// the client may continue to send.
    mutating func inputEnded() -> Action {
        if phase == .idle { return close() }
        if case .handedOver(_, let outputEnded) = phase {
            return ended(input: true, output: outputEnded)
        }
        guard let exchange else { return .none }
        phase = .closed
        return exchange.receiving == .done ? .end(keepsConnection: false) : .fail
    }

    // MARK: - Ends

    /// Nothing was sent or received for the idle limit: a complete response ends the exchange, even
    /// if the request is not completely sent.
    mutating func idleLimitReached() -> Action { inputEnded() }

    /// The exchange has failed or was stopped: a malformed response, a lost connection,
    /// cancellation.
    mutating func failed() -> Action {
        switch phase {
        case .exchanging, .handedOver:
            phase = .closed
            return .fail
        case .idle, .connecting: return close()
        case .closed: return .none
        }
    }

    /// After 101, the directions have ended as far as given; the connection ends with both.
    private mutating func ended(input: Bool, output: Bool) -> Action {
        guard input, output else {
            phase = .handedOver(inputEnded: input, outputEnded: output)
            return .none
        }
        phase = .closed
        return .end(keepsConnection: false)
    }

    private mutating func close() -> Action {
        phase = .closed
        return .close
    }

    /// Changes the exchange, and ends it if both directions are finished.
    private mutating func update(_ change: (inout Exchange) -> Action) -> Action {
        guard case .exchanging(var exchange) = phase else { return .none }
        let action = change(&exchange)
        guard exchange.receiving == .done, exchange.sending == .done || exchange.sending == .stopped
        else {
            phase = .exchanging(exchange)
            return action
        }
        isReused = true
        phase = exchange.keepsConnection ? .idle : .closed
        return .end(keepsConnection: exchange.keepsConnection)
    }
}
