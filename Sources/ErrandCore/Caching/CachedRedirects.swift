package import ErrandHTTP
import Synchronization

/// The redirect of the requested URL that the cache has stored, or wants to store.
package final class CachedRedirects: Sendable {
    /// A stored redirect, which is used in place of a request.
    package let first: Response?
    private let store: @Sendable (Response) async -> Bool
    private let wasStored = Atomic(false)

    /// Whether a redirect of the network was stored.
    package var isStored: Bool { wasStored.load(ordering: .relaxed) }

    package init(first: Response) {
        self.first = first
        store = { _ in false }
    }

    /// - Parameter store: Stores a redirect; returns false if it may not be stored.
    package init(store: @escaping @Sendable (Response) async -> Bool) {
        first = nil
        self.store = store
    }

    /// Takes the redirect of the network; one that was stored has no effect.
    package func received(_ response: Response) async {
        if await store(response) { wasStored.store(true, ordering: .relaxed) }
    }
}
