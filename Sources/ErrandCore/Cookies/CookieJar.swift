import Foundation
public import HTTPTypes
import Synchronization

/// Keeps cookies and says which of them a request gets, by the rules of RFC 6265bis.
///
/// Every agent has one of its own in memory (``RequestAgent/cookieJar``); one that is shared between agents, or
/// that outlives the process, is set in ``Configuration/cookieJar``:
///
///     configuration.cookieJar = CookieJar(
///         persistence: FileCookiePersistence(URL(fileURLWithPath: "/home/me/.local/state/app/cookies")))
///
/// At most 50 cookies a domain and 3000 in all are kept; none lives longer than 400 days. May be used from
/// anywhere.
public final class CookieJar: Sendable {
    private struct State {
        var cookies = CookieStorageState()
        var writing = CookieWriting()
        var waiters: [CheckedContinuation<Void, Never>] = []
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    private let acceptance: CookieAcceptance
    private let persistence: (any CookiePersistence)?
    private let clock: any RequestClock

    /// Makes a jar; with persistence, it reads what was saved before it returns.
    ///
    /// - Parameters:
    ///   - persistence: Where cookies that are no session cookies are kept. Default `nil`: memory only. What cannot
    ///     be read is in ``persistenceFailure``; the jar is empty then.
    ///   - publicSuffixes: Domains that no cookie may span. Default `nil`: ``PublicSuffixRules/builtIn``.
    ///   - trustsLoopback: Whether `Secure` cookies also travel without TLS to and from `localhost` and loopback
    ///     addresses, as browsers allow for development. Default false: https only.
    ///   - clock: Time, for ages. Requests bring their agent's.
    public init(
        persistence: (any CookiePersistence)? = nil,
        publicSuffixes: (any PublicSuffixList)? = nil,
        trustsLoopback: Bool = false, clock: any RequestClock = SystemClock()
    ) {
        self.persistence = persistence
        self.clock = clock
        acceptance = CookieAcceptance(
            publicSuffixes: publicSuffixes, trustsLoopback: trustsLoopback)
        guard let persistence else { return }
        do {
            let saved = try persistence.load()
            let now = clock.now
            state.withLock { $0.cookies.restore(saved, now: now) }
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    // MARK: - Reading

    /// All cookies that have not ended, oldest first.
    public var all: [Cookie] {
        let now = clock.now
        return state.withLock { $0.cookies.all(now: now) }
    }

    /// The cookies that a request to an address gets, in the order of its `Cookie` header.
    ///
    /// Counts as use.
    public func cookies(for url: URI) -> [Cookie] { cookies(for: url, now: clock.now) }

    /// Whether no request can get one: before that is known, not even the time has to be.
    var isEmpty: Bool { state.withLock { $0.cookies.count == 0 } }

    func cookies(for url: URI, now: Date) -> [Cookie] {
        let isSecure = acceptance.isSecure(url)
        return state.withLock { $0.cookies.cookies(for: url, isSecure: isSecure, now: now) }
    }

    // MARK: - Writing

    /// Takes a cookie of the user's own, in place of one with the same name, domain and path.
    ///
    /// - Throws: ``CookieRefusal`` for a cookie that could never be sent as it is.
    public func set(_ cookie: Cookie) throws(CookieRefusal) {
        let now = clock.now
        put(try acceptance.judge(cookie, now: now).get(), now: now)
    }

    /// Takes or refuses what a server at an address sent as one `Set-Cookie` field.
    ///
    /// - Returns: The cookie as it is kept; with an `expires` in the past it only removed another.
    @discardableResult
    public func receive(_ field: String, from url: URI) -> Result<Cookie, CookieRefusal> {
        receive(field, from: url, now: clock.now)
    }

    /// Takes every cookie among an answer's headers that may be taken.
    public func receive(_ headers: HTTPFields, from url: URI) {
        receive(headers, from: url, now: clock.now)
    }

    func receive(_ headers: HTTPFields, from url: URI, now: Date) {
        for field in headers[values: .setCookie] { receive(field, from: url, now: now) }
    }

    @discardableResult
    private func receive(
        _ field: String, from url: URI, now: Date
    ) -> Result<Cookie, CookieRefusal> {
        let judged = acceptance.judge(field, from: url, now: now)
        guard case .success(let cookie) = judged else { return judged }
        guard put(cookie, now: now, mayOverlaySecure: acceptance.isSecure(url)) else {
            return .failure(.overlaysSecureCookie)
        }
        return judged
    }

    /// Removes a cookie: the one with the same name, domain and path, whatever its value.
    public func delete(_ cookie: Cookie) { delete { $0.hasIdentity(of: cookie) } }

    /// Removes the cookies for which the predicate holds.
    public func delete(where predicate: (Cookie) -> Bool) {
        let writes = state.withLock { state in
            guard state.cookies.remove(where: predicate) else { return false }
            return state.writing.change()
        }
        if writes { write() }
    }

    /// Removes all cookies, saved ones too.
    public func clear() { delete { _ in true } }

    /// Removes the session cookies, as the end of a browser's session does.
    public func clearSession() { delete(where: \.isSession) }

    @discardableResult
    private func put(_ cookie: Cookie, now: Date, mayOverlaySecure: Bool = true) -> Bool {
        let (isTaken, writes) = state.withLock { state in
            if !mayOverlaySecure, state.cookies.overlaysSecureCookie(cookie) {
                return (false, false)
            }
            guard state.cookies.put(cookie, now: now) else { return (true, false) }
            return (true, state.writing.change())
        }
        if writes { write() }
        return isTaken
    }

    // MARK: - Persistence

    /// Why the last reading or saving failed; `nil` after one that did not.
    public var persistenceFailure: (any Error)? { state.withLock { $0.failure } }

    /// Waits until every change so far is saved: of use before the process ends.
    ///
    /// - Throws: What the persistence threw at the last attempt.
    public func flush() async throws {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.writing.isIdle { return true }
                state.waiters.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
        if let failure = persistenceFailure { throw failure }
    }

    private func write() {
        guard let persistence else {
            while nextToWrite() != nil {}
            return
        }
        Task.detached(priority: .utility) { [self] in
            while let saved = nextToWrite() {
                let failure: (any Error)?
                do {
                    try persistence.save(saved)
                    failure = nil
                } catch {
                    failure = error
                }
                state.withLock { $0.failure = failure }
            }
        }
    }

    /// What to write now; `nil` when everything is, and then those who wait are told.
    private func nextToWrite() -> [Cookie]? {
        let now = clock.now
        let (saved, waiters) = state.withLock {
            state -> ([Cookie]?, [CheckedContinuation<Void, Never>]) in
            if state.writing.next() {
                return (state.cookies.all(now: now).filter { !$0.isSession }, [])
            }
            defer { state.waiters = [] }
            return (nil, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return saved
    }
}
