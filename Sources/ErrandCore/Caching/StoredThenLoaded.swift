package import ErrandHTTP
import ErrandSystem

/// The order of deliveries of a request that uses a stored response first and then the network; pure.
///
/// Each event gives one action. There is one end: events after it have no effect.
package struct StoredThenLoaded: Sendable, Hashable {
    /// A result of the lookup or of the network, or the cancellation of the request.
    package enum Event: Sendable, Hashable {
        /// The store has a usable response.
        case stored
        /// The store has no usable response.
        case missed
        /// The network has a valid response.
        ///
        /// - Parameter isChanged: Whether it differs from the stored one; true without a stored one.
        case loaded(isChanged: Bool)
        /// The network has failed.
        case failed
        /// The request was cancelled, or its agent was shut down.
        case cancelled
    }

    /// The effect of an event.
    package enum Action: Sendable, Hashable {
        /// No effect.
        case none
        /// The stored response is delivered, and the network follows.
        case deliverStored
        /// The request ends.
        case end(End)
    }

    /// The end of the request.
    package enum End: Sendable, Hashable {
        /// A success with the response of the network.
        ///
        /// - Parameter isRepeated: Whether a reader of values has received an equal one.
        case loaded(isRepeated: Bool)
        /// A success with the stored response, because the network has failed.
        case storedRemains
        /// The failure of the network, without a stored response.
        case failure
        /// A cancellation, with or without a stored response.
        case cancelled
    }

    private enum State: Sendable, Hashable {
        case lookingUp
        case loading(hasStored: Bool)
        case ended
    }

    private var state = State.lookingUp

    package init() {}

    /// Whether the end was given.
    package var hasEnded: Bool { state == .ended }

    /// Applies an event.
    package mutating func handle(_ event: Event) -> Action {
        let hasStored: Bool
        switch state {
        case .ended: return .none
        case .lookingUp: hasStored = false
        case .loading(let stored): hasStored = stored
        }
        switch event {
        case .stored:
            guard case .lookingUp = state else { return .none }
            state = .loading(hasStored: true)
            return .deliverStored
        case .missed:
            if case .lookingUp = state { state = .loading(hasStored: false) }
            return .none
        case .loaded(let isChanged):
            state = .ended
            return .end(.loaded(isRepeated: hasStored && !isChanged))
        case .failed:
            state = .ended
            return .end(hasStored ? .storedRemains : .failure)
        case .cancelled:
            state = .ended
            return .end(.cancelled)
        }
    }

    /// Whether a response of the network differs from a stored one.
    ///
    /// They are equal if their status is, and also their bytes or a strong validator: the `ETag`, or
    /// a `Last-Modified` at least 60 seconds before both values of `Date` (RFC 9110 §8.8.2.2). A weak
    /// `ETag` identifies equivalent content and counts as well. A response that a 304 has confirmed
    /// is equal.
    package static func isChanged(_ loaded: Response, from stored: Response) -> Bool {
        if loaded.source == .revalidated { return false }
        guard loaded.status == stored.status else { return true }
        let tags = [loaded, stored].map { $0.headers[fields: .eTag].first?.opaqueTag }
        if tags[0] != nil, tags[0] == tags[1] { return false }
        if tags[0] == nil, tags[1] == nil, hasSameStrongDate(loaded, stored) { return false }
        return loaded.data != stored.data
    }

    private static func hasSameStrongDate(_ loaded: Response, _ stored: Response) -> Bool {
        guard let modified = loaded.headers[values: .lastModified].first,
            stored.headers[values: .lastModified].first == modified
        else { return false }
        return [loaded, stored].allSatisfy { response in
            guard let sent = response.headers[values: .date].first,
                let date = HTTPDate.parse(sent, now: Date()),
                let time = HTTPDate.parse(modified, now: date)
            else { return false }
            return date.timeIntervalSince(time) >= 60
        }
    }
}
