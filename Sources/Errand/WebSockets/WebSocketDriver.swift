import ErrandCore
import ErrandSystem
import ErrandTransport
import ErrandWebSocket
import Synchronization

/// The connection of one WebSocket between its transfer, which delivers bytes and takes them, and its users.
///
/// ``WebSocketState`` decides; this type has the buffers and performs the actions outside its lock. Frames are read on
/// the thread of the transport. It reads no further while messages wait for their reader, or output for the socket.
final class WebSocketDriver: ConnectionUpgrade, BodySource {
    /// A message, or a part of one.
    struct Message: Sendable {
        let isText: Bool
        let bytes: Data
        var endsMessage = true
    }

    /// How the messages are read.
    enum Reading {
        /// No task has asked for one; at most ``limit`` bytes of a message are received.
        case undecided
        case messages
        case fragments
    }

    /// The size of waiting messages, and that of unsent bytes, at which reading stops and senders wait.
    static let limit = 64 << 10

    private struct State: ~Copyable, Sendable {
        var handshake: WebSocketHandshake?
        var agreement = WebSocketHandshake.Agreement()
        var socket: WebSocketState?
        var output = WebSocketBuffer()
        /// The number of unsent bytes that input has caused, such as PONGs, at most.
        var unsentResponses = 0
        /// Whether the connection accepts no more output, though it may have input.
        var hasLostOutput = false
        var inbox = WebSocketInbox()
        var reading = Reading.undecided
        /// The beginning of a message, and whether it is text.
        var partial = Data()
        var isPartialText = false
        /// The bytes of the message that is arriving, with those that were passed on as fragments.
        var messageBytes: Int64 = 0
        /// Input that was not read, because too much waits.
        var rest = Data()
        var isPaused = false
        var end: WebSocketState.End?
        /// The end for the reader of a connection that had ended before a message was refused.
        var refusal: WebSocketState.End?
        /// Whether the server ends a closed connection first.
        var awaitsServerEnd = false
        /// The time at which the transfer is cancelled unless the server has ended it.
        var abortTime: Duration?
        /// The end of the transfer.
        var transferEnd: Result<Void, RequestError>?
        var roundTrip: Duration?
        /// Until its end.
        weak var transfer: (any UpgradedTransfer)?
        var readable: (@Sendable () -> Void)?
        var reader: UnsafeContinuation<Void, Never>?
        var isReaderWaiting = false
        var senders: [UnsafeContinuation<Void, Never>] = []
        /// Whether a message is sent in fragments, for whose end other messages wait.
        var isSendingFragments = false
        /// Whether the user has closed the connection.
        var isClosedByUser = false
        /// Whether every end of the connection is one without an error for the reader.
        var endsQuietly = false
        /// The next check of the times.
        var timer: ScheduledCall?
        /// How often the timer was started.
        var timerNumber = 0
        /// The stream of the request, whose release would cancel it; until the end of the transfer.
        var stream: ResponseStream?
        /// Until the end of the transfer.
        var observers: [any WebSocketObserver] = []
        /// The events that ``deliverEvents()`` passes to the observers.
        var events: [WebSocketEvent] = []
        var deliverEvents: (@Sendable () -> Void)?
        /// The bytes, before compression and in frames, of the message that is sent in fragments.
        var fragments: (bytes: Int, onWire: Int) = (0, 0)
    }

    /// What a change of the state has caused.
    private struct Actions {
        var readable: (@Sendable () -> Void)?
        /// The transfer that goes on to read.
        var resumed: (any UpgradedTransfer)?
        var reader: UnsafeContinuation<Void, Never>?
        var senders: [UnsafeContinuation<Void, Never>] = []
        var events: (@Sendable () -> Void)?

        func perform() {
            events?()
            readable?()
            resumed?.resumeReading()
            reader?.resume()
            for sender in senders { sender.resume() }
        }
    }

    private let state = Mutex(State())
    /// Held while observers are called, which orders the calls of several threads.
    private let delivery = Mutex(())
    private let options: WebSocketOptions
    private let base: EndpointURL?
    private let clock: any RequestClock
    /// The fault of the options; `nil` for none.
    let mistake: RequestError?

    /// - Parameter base: The base URL of the agent.
    init(_ options: WebSocketOptions, base: EndpointURL?, clock: any RequestClock) {
        (self.options, self.base, self.clock) = (options, base, clock)
        var mistake: RequestError?
        do throws(RequestError) {
            _ = try WebSocketHandshake(subprotocols: options.subprotocols, deflate: nil)
        } catch {
            mistake = error
        }
        self.mistake = mistake
    }

    func describe(_ description: inout RequestDescription) {
        description.beWebSocket(self, base: base)
    }

    var agreement: WebSocketHandshake.Agreement { state.withLock { $0.agreement } }
    var roundTrip: Duration? { state.withLock { $0.roundTrip } }

    /// Whether a sender waits for room.
    var hasWaitingSender: Bool { state.withLock { !$0.senders.isEmpty } }

    var closed: WebSocketClose? { state.withLock { $0.end.map { Self.close(of: $0) } } }

    var isOpen: Bool { state.withLock { $0.end == nil && $0.socket?.isOpen == true } }

    /// The state of a connection for ``WebSocketConnections``.
    enum Ending {
        case open
        /// The user has closed it, or the server has with 1000.
        case regular
        case failed(RequestError)
    }

    var ending: Ending {
        state.withLock { state -> Ending in
            if state.isClosedByUser { return .regular }
            if state.end == nil, state.socket?.isOpen == true { return .open }
            if let end = state.end, end.isClean, [.normal, .none].contains(end.code) {
                return .regular
            }
            var error = Self.error(state.end, state.transferEnd)
            if state.end == nil {
                // A message in fragments has failed, or a reader was cancelled.
                error.webSocketClose = WebSocketClose(code: .abnormal, isClean: false)
            }
            return .failed(error)
        }
    }

    // MARK: - The transfer

    var extendedProtocol: String? { "websocket" }

    func prepare(_ request: inout TransportRequest) {
        // The subprotocols were checked before the start.
        let handshake = try? WebSocketHandshake(
            subprotocols: options.subprotocols, deflate: options.offer)
        handshake?.apply(to: &request.headers)
        state.withLock { $0.handshake = handshake }
    }

    func begin(
        _ head: ResponseHead, observers: [any WebSocketObserver], transfer: any UpgradedTransfer
    ) throws(RequestError) -> any BodySource {
        let now = clock.uptime
        let isSwitch = head.status.code == 101
        do throws(WebSocketFault) {
            let agreement = try state.withLock { $0.handshake.take() }?
                .agreement(head.headers, isSwitch: isSwitch)
            let opened = WebSocketEvent.opened(
                subprotocol: agreement?.subprotocol,
                extensions: head.headers[.secWebSocketExtensions])
            state.withLock { state in
                state.agreement = agreement ?? WebSocketHandshake.Agreement()
                state.socket = WebSocketState(
                    options.limits, deflate: agreement?.deflate, at: now)
                state.transfer = transfer
                // RFC 6455 §7.1.1: the server ends it first. NB: hypercorn 0.18 closes the connection of HTTP/2 with all its
                // streams if the client does (https://github.com/pgjones/hypercorn/issues/329).
                state.awaitsServerEnd = !isSwitch
                state.observers = observers
                state.deliverEvents = { [weak self] in self?.deliverEvents() }
                Self.note(opened, &state)
            }
            deliverEvents()
        } catch {
            throw RequestError(
                .badServerResponse, stage: .transport,
                "The server accepted no WebSocket. \(error.message)")
        }
        arm()
        return self
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Demand {
        let now = clock.uptime
        let (actions, demand, hasEnded) = state.withLock { state in
            if state.rest.isEmpty {
                var input = bytes
                Self.read(&input, &state, at: now)
                if !input.isEmpty { state.rest = Data(input) }
            } else {
                state.rest.append(contentsOf: bytes)
            }
            return (
                Self.actions(&state), state.isPaused ? Demand.pause : .more, state.end != nil
            )
        }
        actions.perform()
        if hasEnded { arm() }
        return demand
    }

    func receiveEnd() {
        let now = clock.uptime
        let actions = state.withLock { state in
            Self.readRest(&state, at: now, all: true)
            if let end = state.socket?.inputEnded() { Self.finish(end, &state) }
            state.awaitsServerEnd = false
            return Self.actions(&state)
        }
        actions.perform()
        arm()
    }

    func end(_ error: RequestError?) -> RequestError? {
        let now = clock.uptime
        let (actions, timer, stream, failure) = state.withLock { state in
            Self.readRest(&state, at: now, all: true)
            let failure = Self.failure(error, after: state.end)
            state.transferEnd = error.map { .failure($0) } ?? .success(())
            if let end = state.socket?.inputEnded() { Self.finish(end, &state) }
            state.transfer = nil
            return (Self.actions(&state), state.timer.take(), state.stream.take(), failure)
        }
        timer?.cancel()
        actions.perform()
        // They have got the last event.
        let observers = state.withLock { exchange(&$0.observers, with: []) }
        // Released after the lock.
        withExtendedLifetime((stream, observers)) {}
        return failure
    }

    /// The failure of the transfer: none after both close frames, however the connection ends then.
    private static func failure(
        _ error: RequestError?, after end: WebSocketState.End?
    ) -> RequestError? {
        guard let end else { return error }
        if end.isClean { return nil }
        return end.fault == nil ? error : Self.error(end, nil)
    }

    // MARK: - Input

    /// Reads frames until the input is used up or too much waits.
    private static func read(
        _ input: inout UnsafeRawBufferPointer, _ state: inout State, at now: Duration,
        all: Bool = false
    ) {
        while state.end == nil {
            let undecided = state.reading == .undecided ? state.partial.count : 0
            // Messages of this side do not count: a server may read no further before its own are read.
            let isFull =
                state.inbox.bytes + undecided >= limit || state.unsentResponses >= limit
            if isFull, !all, !state.hasLostOutput {
                setPaused(true, &state, at: now)
                return
            }
            // No more at once, so that the pieces of a message are small.
            var part = UnsafeRawBufferPointer(rebasing: input.prefix(limit))
            let count = part.count
            guard let event = next(&part, &state, at: now) else { return }
            input = UnsafeRawBufferPointer(rebasing: input[(count - part.count)...])
            switch event {
            case .needsInput: if input.isEmpty { return }
            case .content(let content):
                state.partial.append(contentsOf: content.bytes)
                state.isPartialText = content.isText
                state.messageBytes += Int64(content.bytes.count)
                if content.endsMessage { noteReceived(content, &state) }
                if content.endsMessage || state.reading == .fragments {
                    enqueuePartial(endsMessage: content.endsMessage, &state)
                }
            case .roundTrip(let duration):
                state.roundTrip = duration
                note(.roundTrip(duration), &state)
            case .ended(let end): finish(end, &state)
            }
        }
        input = UnsafeRawBufferPointer(rebasing: input[input.count...])
    }

    /// Adds the event of a message that has arrived; its payload, if it was not read in pieces.
    private static func noteReceived(_ content: WebSocketState.Content, _ state: inout State) {
        let bytes = exchange(&state.messageBytes, with: 0)
        let payload = bytes == state.partial.count ? state.partial : nil
        note(
            .message(
                WebSocketEvent.Message(
                    .received, isText: content.isText, bytes: bytes,
                    bytesOnWire: Int64(clamping: content.bytesOnWire), payload: payload)),
            &state)
    }

    private static func enqueuePartial(endsMessage: Bool, _ state: inout State) {
        let bytes = exchange(&state.partial, with: Data())
        state.inbox.append(
            Message(isText: state.isPartialText, bytes: bytes, endsMessage: endsMessage))
    }

    /// Chooses how the messages are read; returns false if they are read in the other way.
    private func choose(_ reading: Reading, _ state: inout State) -> Bool {
        guard state.reading == .undecided else { return state.reading == reading }
        state.reading = reading
        switch reading {
        case .undecided: break
        case .fragments:
            if !state.partial.isEmpty { Self.enqueuePartial(endsMessage: false, &state) }
        case .messages:
            guard let limit = options.maximumMessageBytes else { break }
            state.socket?.limitMessages(to: limit)
            // What has arrived before had no limit.
            let isRemoved = state.inbox.removeAll(fromOneAbove: limit)
            let announced = state.socket?.announcedBytes ?? 0
            guard isRemoved || state.partial.count > limit || announced > UInt64(max(0, limit))
            else { break }
            guard let end = state.socket?.refuseMessage(into: &state.output) else { break }
            if state.end == nil { Self.finish(end, &state) } else { state.refusal = end }
        }
        return true
    }

    private static func next(
        _ input: inout UnsafeRawBufferPointer, _ state: inout State, at now: Duration
    ) -> WebSocketState.Event? {
        let before = state.output.count
        let event = state.socket?.next(&input, at: now, into: &state.output)
        state.unsentResponses += state.output.count - before
        if state.hasLostOutput { dropOutput(&state) }
        return event
    }

    private static func dropOutput(_ state: inout State) {
        state.output.removeAll()
        state.unsentResponses = 0
    }

    /// Reads the input that was left, after some of what waited was taken.
    private static func readRest(_ state: inout State, at now: Duration, all: Bool = false) {
        guard state.isPaused else { return }
        let isFree = state.inbox.bytes < limit / 2 && state.unsentResponses < limit / 2
        guard isFree || all else { return }
        let rest = exchange(&state.rest, with: Data())
        setPaused(false, &state, at: now)
        rest.withUnsafeBytes { bytes in
            var input = bytes
            read(&input, &state, at: now, all: all)
            if !input.isEmpty { state.rest = Data(input) }
        }
    }

    private static func setPaused(_ isPaused: Bool, _ state: inout State, at now: Duration) {
        guard state.isPaused != isPaused else { return }
        state.isPaused = isPaused
        state.socket?.setReading(!isPaused, at: now)
    }

    private static func finish(_ end: WebSocketState.End, _ state: inout State) {
        state.end = end
        state.partial = Data()
        note(.closed(close(of: end)), &state)
    }

    // MARK: - Events

    /// Adds an event, if an observer wants it.
    private static func note(_ event: @autoclosure () -> WebSocketEvent, _ state: inout State) {
        guard state.observers.contains(where: \.observesWebSocket) else { return }
        state.events.append(event())
    }

    private static func close(of end: WebSocketState.End) -> WebSocketClose {
        WebSocketClose(code: end.code, reason: end.reason, isClean: end.isClean)
    }

    /// Passes the events to the observers; when it returns, those that were added before have been passed on.
    private func deliverEvents() {
        delivery.withLock { _ in
            let (events, observers) = state.withLock { state in
                (exchange(&state.events, with: []), state.observers)
            }
            for event in events {
                for observer in observers where observer.observesWebSocket {
                    observer.observe(event)
                }
            }
        }
    }

    /// What the users and the transfer can do now.
    private static func actions(_ state: inout State) -> Actions {
        var actions = Actions()
        let hasEnded = state.end != nil
        if isReadable(state) { actions.readable = state.readable.take() }
        if hasEnded || !state.inbox.isEmpty {
            state.isReaderWaiting = false
            actions.reader = state.reader.take()
        }
        if hasEnded || state.output.count < limit && !state.hasLostOutput {
            actions.senders = exchange(&state.senders, with: [])
        }
        if !state.events.isEmpty { actions.events = state.deliverEvents }
        return actions
    }

    /// Reads the input that was left, and resumes the transfer if there is room again.
    private static func readOn(
        _ state: inout State, at now: Duration, all: Bool = false
    ) -> Actions {
        let wasPaused = state.isPaused
        readRest(&state, at: now, all: all)
        var actions = actions(&state)
        if wasPaused, !state.isPaused { actions.resumed = state.transfer }
        return actions
    }

    // MARK: - Output

    var length: Int64? { nil }

    /// Whether there is output, or this side may end its direction.
    private static func isReadable(_ state: borrowing State) -> Bool {
        !state.output.isEmpty || state.end != nil && !state.awaitsServerEnd
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
        let now = clock.uptime
        let (actions, result, hasEnded) = state.withLock { state -> (Actions, BodyRead, Bool) in
            let count = min(buffer.count, state.output.count)
            guard count > 0 else {
                return (Actions(), Self.isReadable(state) ? .end : .wait, false)
            }
            let contents = state.output.contents
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: contents[..<count]))
            state.output.removeFirst(count)
            state.unsentResponses = min(state.unsentResponses, state.output.count)
            let wasOpen = state.end == nil
            let actions = Self.readOn(&state, at: now)
            return (actions, .bytes(count), wasOpen && state.end != nil)
        }
        actions.perform()
        if hasEnded { arm() }
        return result
    }

    func whenReadable(_ notify: @escaping @Sendable () -> Void) {
        let isReadable = state.withLock { state in
            let isReadable = Self.isReadable(state)
            if !isReadable { state.readable = notify }
            return isReadable
        }
        if isReadable { notify() }
    }

    func rewind() -> Bool { false }

    /// The connection accepts no more bytes.
    ///
    /// What the server has sent before is read without a limit, because only then
    /// the transfer ends.
    func close() {
        let now = clock.uptime
        let (actions, hasEnded) = state.withLock { state -> (Actions, Bool) in
            state.readable = nil
            guard state.transferEnd == nil else { return (Actions(), false) }
            state.hasLostOutput = true
            Self.dropOutput(&state)
            let wasOpen = state.end == nil
            let actions = Self.readOn(&state, at: now, all: true)
            return (actions, wasOpen && state.end != nil)
        }
        actions.perform()
        if hasEnded { arm() }
    }

    // MARK: - The users

    /// Sends a message when less than ``limit`` bytes are unsent.
    nonisolated(nonsending) func send(
        _ bytes: Data, isText: Bool
    ) async throws(RequestError) {
        try await performWhenRoom { Self.write(bytes, isText: isText, &$0) }
    }

    /// Sends a message if less than ``limit`` bytes are unsent; returns whether it has.
    func trySend(_ bytes: Data, isText: Bool) throws(RequestError) -> Bool {
        try perform { Self.write(bytes, isText: isText, &$0) }
    }

    /// Begins a message in fragments, when no other one is sent.
    nonisolated(nonsending) func beginFragments() async throws(RequestError) {
        try await performWhenRoom { $0.isSendingFragments = true }
    }

    /// Sends the next fragment of a message.
    nonisolated(nonsending) func sendFragment(
        _ bytes: Data, endsMessage: Bool
    ) async throws(RequestError) {
        try await performWhenRoom(isFragment: true) { state in
            let before = state.output.count
            bytes.withUnsafeBytes { bytes in
                _ = state.socket?.sendFragment(
                    bytes, isText: false, endsMessage: endsMessage, into: &state.output)
            }
            state.fragments.bytes += bytes.count
            state.fragments.onWire += state.output.count - before
            guard endsMessage else { return }
            state.isSendingFragments = false
            let sent = exchange(&state.fragments, with: (0, 0))
            Self.note(
                .message(
                    WebSocketEvent.Message(
                        .sent, isText: false, bytes: Int64(sent.bytes),
                        bytesOnWire: Int64(sent.onWire))), &state)
        }
    }

    /// Changes the state as soon as there is room.
    private nonisolated(nonsending) func performWhenRoom(
        isFragment: Bool = false, _ change: (inout State) -> Void
    ) async throws(RequestError) {
        while !(try perform(isFragment: isFragment, change)) {
            await waitForRoom(isFragment: isFragment)
            if Task.isCancelled { throw .cancelled }
        }
    }

    /// Changes the state of an open connection with room; returns false if there is none.
    // Not inlined, like `take`: the frame of a task that sends had 2,304 bytes.
    @inline(never)
    private func perform(
        isFragment: Bool = false, _ change: (inout State) -> Void
    ) throws(RequestError) -> Bool {
        let (result, actions) = state.withLock { state -> (Result<Bool, RequestError>, Actions) in
            guard state.end == nil, state.socket?.isOpen == true else {
                return (.failure(Self.error(state.end, state.transferEnd)), Actions())
            }
            guard Self.hasRoom(state, isFragment) else { return (.success(false), Actions()) }
            change(&state)
            return (.success(true), Self.actions(&state))
        }
        actions.perform()
        return try result.get()
    }

    /// Whether a message, or the next fragment of the one that is sent in fragments, may be sent.
    private static func hasRoom(_ state: borrowing State, _ isFragment: Bool) -> Bool {
        // After the loss of the output, senders get the error of the end that follows.
        state.output.count < limit && !state.hasLostOutput
            && (isFragment || !state.isSendingFragments)
    }

    private static func write(_ bytes: Data, isText: Bool, _ state: inout State) {
        let before = state.output.count
        bytes.withUnsafeBytes { bytes in
            // False only without a connection, which the caller has checked.
            _ = state.socket?.send(bytes, isText: isText, into: &state.output)
        }
        let written = state.output.count - before
        note(
            .message(
                WebSocketEvent.Message(
                    .sent, isText: isText, bytes: Int64(bytes.count), bytesOnWire: Int64(written),
                    payload: bytes)), &state)
    }

    private nonisolated(nonsending) func waitForRoom(isFragment: Bool) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let waits = state.withLock { state in
                    let waits =
                        state.end == nil && !Self.hasRoom(state, isFragment) && !Task.isCancelled
                    if waits { state.senders.append(continuation) }
                    return waits
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            // The others find that there is no room, and wait again.
            let senders = state.withLock { exchange(&$0.senders, with: []) }
            for sender in senders { sender.resume() }
        }
    }

    /// Ends the messages without an error, because ``ending`` is read afterwards.
    func endQuietly() { state.withLock { $0.endsQuietly = true } }

    /// The next message, or a part of one; `nil` after a clean end with 1000, 1001 or without a code, or one of this
    /// side.
    nonisolated(nonsending) func next(_ reading: Reading) async throws(RequestError) -> Message? {
        while true {
            switch try take(reading) {
            case .message(let message): return message
            case .end: return nil
            case .again: break
            case .wait: await waitForMessage()
            }
        }
    }

    /// What a task that reads messages gets, or does.
    private enum Taken {
        case message(Message)
        case end
        case again
        case wait
    }

    // Not inlined: what it needs would lie in the frame of the waiting task.
    @inline(never)
    private func take(_ reading: Reading) throws(RequestError) -> Taken {
        if Task.isCancelled {
            close(.goingAway)
            throw .cancelled
        }
        let now = clock.uptime
        var hasEnded = false
        let (result, actions) = state.withLock {
            state -> (Result<Taken, RequestError>, Actions) in
            let wasOpen = state.end == nil
            defer { hasEnded = wasOpen && state.end != nil }
            guard !state.isReaderWaiting else {
                let error = RequestError.invalidCombination(
                    "Two tasks read the messages of one WebSocket at once. Read them in one task.")
                return (.failure(error), Actions())
            }
            let wasUndecided = state.reading == .undecided
            guard choose(reading, &state) else {
                let error = RequestError.invalidCombination(
                    "The messages and the fragments of one WebSocket are read. Read either.")
                return (.failure(error), Actions())
            }
            let message = state.inbox.takeFirst()
            if message != nil || wasUndecided {
                let actions = Self.readOn(&state, at: now)
                return (.success(message.map { .message($0) } ?? .again), actions)
            }
            guard let end = state.refusal ?? state.end else {
                state.isReaderWaiting = true
                return (.success(.wait), Actions())
            }
            let isExpected = end.isClean && [.normal, .goingAway, .none].contains(end.code)
            return (
                isExpected || state.endsQuietly
                    ? .success(.end) : .failure(Self.error(end, state.transferEnd)), Actions()
            )
        }
        actions.perform()
        if hasEnded { arm() }
        return try result.get()
    }

    private nonisolated(nonsending) func waitForMessage() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let waits = state.withLock { state in
                    // A message, or the end, may have arrived since.
                    if state.isReaderWaiting, !Task.isCancelled { state.reader = continuation }
                    let waits = state.reader != nil
                    if !waits { state.isReaderWaiting = false }
                    return waits
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let reader = state.withLock { state in
                state.isReaderWaiting = false
                return state.reader.take()
            }
            reader?.resume()
        }
    }

    /// Sends a close frame, unless one was sent.
    func close(_ code: CloseCode, reason: String = "", byUser: Bool = false) {
        let now = clock.uptime
        let (actions, isClosing) = state.withLock { state in
            if byUser { state.isClosedByUser = true }
            let isClosing =
                state.socket?.close(code, reason: reason, at: now, into: &state.output) ?? false
            return (Self.actions(&state), isClosing)
        }
        actions.perform()
        if isClosing { arm() }
    }

    /// The error of a connection that has ended, or that this side has closed.
    private static func error(
        _ end: WebSocketState.End?, _ transferEnd: Result<Void, RequestError>?
    ) -> RequestError {
        guard let end else {
            return RequestError(
                .webSocketClosed, stage: .transport,
                "This side has closed the WebSocket. Connect again to send more.")
        }
        if case .failure(let error) = transferEnd, !end.isClean, end.fault == nil { return error }
        let message: String
        if let fault = end.fault {
            message =
                if let advice = fault.advice {
                    "The WebSocket was closed because of a limit of this side. \(fault.message) \(advice)"
                } else {
                    "The server was not understood, so the WebSocket was closed. \(fault.message)"
                }
        } else if end.isClean {
            let reason = end.reason.isEmpty ? "without a reason" : "'\(end.reason)'"
            message =
                "The WebSocket was closed with \(end.code), \(reason). Connect again if that is not its regular end."
        } else {
            message = "The connection of the WebSocket ended without a close frame. Connect again."
        }
        var error = RequestError(.webSocketClosed, stage: .transport, message)
        error.webSocketClose = close(of: end)
        return error
    }

    // MARK: - Times

    /// Starts the timer, or starts it again after the next time has changed.
    private func arm() {
        let (number, before) = state.withLock { state in
            state.timerNumber += 1
            return (state.timerNumber, state.timer.take())
        }
        before?.cancel()
        Task { wait(number) }
    }

    /// Performs what is due, and waits for the next time, unless the timer was started again.
    private func wait(_ number: Int) {
        guard let time = check() else { return }
        // Observers may be called, so a task of its own does what is due. With a number of its own, because this timer may
        // end before it is kept.
        let timer = ScheduledCall(after: max(.zero, time - clock.uptime), clock) { [weak self] in
            self?.arm()
        }
        let superseded = state.withLock { state -> ScheduledCall? in
            guard state.timerNumber == number, state.transferEnd == nil else { return timer }
            return exchange(&state.timer, with: timer)
        }
        superseded?.cancel()
    }

    /// Performs what is due; returns the time of the next check.
    private func check() -> Duration? {
        let now = clock.uptime
        // Nothing is heard of the server meanwhile.
        let isSuspended = state.withLock { $0.transfer }?.isSuspended == true
        let (actions, next) = state.withLock { state -> (Actions, Duration?) in
            guard state.transferEnd == nil else { return (Actions(), nil) }
            guard state.end == nil else {
                let time = state.abortTime ?? now + options.closeTimeout
                state.abortTime = time
                guard time <= now else { return (Actions(), time) }
                var actions = Actions()
                let transfer = state.transfer
                actions.readable = { transfer?.cancel() }
                return (actions, nil)
            }
            state.socket?.setReading(!state.isPaused && !isSuspended, at: now)
            switch state.socket?.check(at: now, into: &state.output) {
            case .wait(let end): return (Self.actions(&state), end)
            case .ended(let end):
                Self.finish(end, &state)
                return (Self.actions(&state), now)
            case nil: return (Actions(), nil)
            }
        }
        actions.perform()
        return next
    }

    /// Keeps the stream until the end of the transfer; it is cancelled if the server does not end a closed connection
    /// (RFC 6455 §7.1.1).
    func keep(_ stream: ResponseStream) {
        state.withLock { if $0.transferEnd == nil { $0.stream = stream } }
    }
}
