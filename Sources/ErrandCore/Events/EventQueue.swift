/// The events of one task that wait for delivery to its listeners.
///
/// An event that is added during a delivery is delivered by the same thread, so listeners receive
/// events in order and one at a time. Events of a transfer are not delivered on the transfer's
/// thread, which serves other transfers: they wait for a drain on another thread, or for the next
/// event that the pipeline adds.
package struct EventQueue: Sendable {
    /// The delivery of an event that the pipeline adds.
    package enum Entry: Sendable, Equatable {
        /// The task has ended: the event is dropped.
        case refused
        /// The caller delivers the event, and then calls ``EventQueue/finish()``; nothing waits before it.
        case deliver
        /// The caller calls ``EventQueue/append(_:)``, under the same lock.
        case wait
    }

    private var waiting: [RequestEvent] = []
    private var isDelivering = false
    private var isDrainScheduled = false
    /// Whether the current delivery is a scheduled drain and not on a thread of the user.
    private var isDrain = false
    private var isClosed = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// The number of waiting events from which on parts of bodies are combined, because a listener is slow.
    package static let maximumChunks = 1024
    /// The number of the kinds of messages: text and binary in both directions.
    private static let messageKinds = 4
    /// The number of events between two of the pipeline: the connection, the head of the response, and the next one.
    private static let usualCount = 3

    package init() {}

    /// Decides about an event that the caller may deliver.
    ///
    /// After the end only the outcome of a store write is accepted, because the task does not wait
    /// for the write.
    package mutating func enter(_ kind: RequestEvent.Kind) -> Entry {
        guard admits(kind) else { return .refused }
        guard !isDelivering, waiting.isEmpty else { return .wait }
        isDelivering = true
        isDrain = false
        return .deliver
    }

    /// Adds an event after those that wait; returns the events that the caller must deliver, before it calls
    /// ``next()``, if no other thread delivers.
    package mutating func append(_ event: RequestEvent) -> [RequestEvent] {
        waiting.append(event)
        return start(elsewhere: false)
    }

    /// Adds an event that the caller must not deliver.
    ///
    /// - Returns: Whether the caller must schedule a drain, which calls ``begin()``.
    package mutating func leave(_ event: RequestEvent) -> Bool {
        guard admits(event.kind) else { return false }
        if waiting.count >= Self.maximumChunks, combine(event) { return false }
        if waiting.isEmpty { waiting.reserveCapacity(Self.usualCount) }
        waiting.append(event)
        guard !isDelivering, !isDrainScheduled else { return false }
        isDrainScheduled = true
        return true
    }

    /// Adds the event to the last one, or a message to one of the last messages; returns false if none is of its kind.
    private mutating func combine(_ event: RequestEvent) -> Bool {
        guard event.kind.isMessage else { return waiting[waiting.count - 1].absorb(event) }
        for index in waiting.indices.suffix(Self.messageKinds).reversed() {
            guard waiting[index].kind.isMessage else { return false }
            if waiting[index].absorb(event) { return true }
        }
        return false
    }

    /// Starts the delivery of a scheduled drain; no events if none waits or another thread delivers.
    package mutating func begin() -> [RequestEvent] {
        isDrainScheduled = false
        return start(elsewhere: true)
    }

    private mutating func start(elsewhere: Bool) -> [RequestEvent] {
        guard !isDelivering, !waiting.isEmpty else { return [] }
        isDelivering = true
        isDrain = elsewhere
        return exchange(&waiting, with: [])
    }

    /// Ends a delivery if nothing else is to be done; if it returns false, the caller calls ``next()``.
    package mutating func finish() -> Bool {
        guard waiting.isEmpty, waiters.isEmpty else { return false }
        endDelivery()
        return true
    }

    /// The next events to deliver after others were delivered; none ends the delivery.
    package mutating func next() -> [RequestEvent] {
        guard !waiting.isEmpty else {
            endDelivery()
            return []
        }
        return exchange(&waiting, with: [])
    }

    private mutating func endDelivery() {
        isDelivering = false
        // A drain that was scheduled may be cancelled after the end, so it does not count for later events.
        if isClosed { isDrainScheduled = false }
    }

    /// Whether a scheduled drain has something to deliver; if not, the drain is over.
    package mutating func needsDrain() -> Bool {
        isDrainScheduled = !waiting.isEmpty && !isDelivering
        return isDrainScheduled
    }

    /// Whether a scheduled drain is delivering.
    ///
    /// Only a drain is waited for: a listener may block a thread of the user, in `cancel()` for
    /// example, until the task ends.
    package var isBusyElsewhere: Bool { isDelivering && isDrain }

    /// Adds a waiter for the drain; false if no drain is delivering.
    package mutating func wait(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        guard isBusyElsewhere else { return false }
        waiters.append(continuation)
        return true
    }

    /// Removes the waiters, once no delivery is in progress.
    package mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        guard !isDelivering, !waiters.isEmpty else { return [] }
        return exchange(&waiters, with: [])
    }

    private mutating func admits(_ kind: RequestEvent.Kind) -> Bool {
        switch kind {
        case .ended:
            defer { isClosed = true }
            return !isClosed
        case .cacheStored, .cacheWriteFailed, .cacheNotStored, .cacheEvicted, .storeProblem:
            return true
        default: return !isClosed
        }
    }
}

extension RequestEvent.Kind {
    /// Whether the event is about a part of a body.
    package var isChunk: Bool {
        switch self {
        case .chunkSent, .chunkReceived: true
        default: false
        }
    }

    /// Whether the event is about the progress of the request.
    package var isProgress: Bool { if case .progress = self { true } else { false } }

    /// Whether the event is a message of a WebSocket.
    package var isMessage: Bool { if case .webSocket(.message) = self { true } else { false } }

    /// Whether the event is the last one that every listener receives.
    package var isEnd: Bool { if case .ended = self { true } else { false } }
}

extension RequestEvent {
    /// The event without the payload of a message.
    package var withoutPayload: RequestEvent {
        guard case .webSocket(let event) = kind else { return self }
        var copy = self
        copy.kind = .webSocket(event.withoutPayload)
        return copy
    }

    /// Adds the size of the following part of the same body; returns false for other events.
    fileprivate mutating func absorb(_ next: RequestEvent) -> Bool {
        switch (kind, next.kind) {
        case (.chunkSent(let attempt, let bytes), .chunkSent(let other, let more))
        where attempt == other:
            kind = .chunkSent(attempt: attempt, bytes: bytes + more)
        case (.chunkReceived(let attempt, let bytes), .chunkReceived(let other, let more))
        where attempt == other:
            kind = .chunkReceived(attempt: attempt, bytes: bytes + more)
        case (.webSocket(.message(var message)), .webSocket(.message(let next))):
            guard message.absorb(next) else { return false }
            kind = .webSocket(.message(message))
        // The newest value is enough for a slow listener.
        case (.progress, .progress): kind = next.kind
        default: return false
        }
        return true
    }
}
