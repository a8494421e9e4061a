package import ErrandSystem
public import HTTPTypes
import Synchronization

/// A thread-safe store of cookies that selects the cookies of each request (RFC 6265bis).
///
/// Every agent has its own in-memory jar (``RequestAgent/cookieJar``). To share a jar between agents or to
/// keep cookies across launches, set ``Configuration/cookieJar``:
///
///     configuration.cookieJar = CookieJar(
///         persistence: FileCookiePersistence(URL(fileURLWithPath: "/home/me/.local/state/app/cookies")))
///
/// The jar stores at most 50 cookies per domain and 3000 in total. A cookie expires after 400 days at the
/// latest.
public final class CookieJar: Sendable {
    private struct State {
        var cookies = CookieStorageState()
        var writing = CookieWriteState()
        var waiters: [Waiter] = []
        var failure: (any Error)?
        var hasReportedSuffixes = false
    }

    private let state = Mutex(State())
    private let acceptance: CookieAcceptance
    private let persistence: (any CookiePersistence)?
    private let clock: any RequestClock

    /// Creates a jar and, with persistence, loads the saved cookies before it returns.
    ///
    /// - Parameters:
    ///   - persistence: The storage of persistent cookies. Default `nil`: memory only. If loading fails, the
    ///     jar is empty and ``persistenceFailure`` contains the error.
    ///   - publicSuffixes: The domains that no cookie may cover. Default `nil`: ``PublicSuffixRules/system``.
    ///   - trustsLoopback: Whether `Secure` cookies are also sent to and accepted from `localhost` and loopback
    ///     addresses without TLS, as browsers allow for development. Default false: https only.
    ///   - clock: The clock for expiry dates. Requests use the clock of their agent.
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
            let saved = try persistence.load().compactMap(acceptance.restored)
            let now = clock.now
            state.withLock { $0.cookies.restore(saved, now: now) }
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    // MARK: - Reading

    /// All cookies that have not expired, oldest first.
    public var all: [Cookie] {
        let now = clock.now
        return state.withLock { $0.cookies.all(now: now) }
    }

    /// The cookies for a request to a URL, in the order of its `Cookie` header.
    ///
    /// The call marks the cookies as recently used, which protects them from eviction.
    public func cookies(for url: HTTPURL) -> [Cookie] { cookies(for: url, now: clock.now) }

    /// Whether the jar is empty; a cheap check before the current date is read.
    package var isEmpty: Bool { state.withLock { $0.cookies.count == 0 } }

    package func cookies(for url: HTTPURL, now: Date) -> [Cookie] {
        let isSecure = acceptance.isSecure(url)
        return state.withLock { $0.cookies.cookies(for: url, isSecure: isSecure, now: now) }
    }

    // MARK: - Writing

    /// Stores a cookie and replaces one with the same name, domain and path.
    ///
    /// - Throws: ``CookieRefusal`` for a cookie that can never be sent as it is.
    public func set(_ cookie: Cookie) throws(CookieRefusal) {
        let now = clock.now
        put(try acceptance.evaluate(cookie, now: now).get(), now: now)
    }

    /// Stores or refuses the cookie of one `Set-Cookie` field from a server.
    ///
    /// - Returns: The stored cookie, or the reason of the refusal. A cookie with an expiry date in the past
    ///   removes the cookie that it would replace.
    @discardableResult
    public func receive(_ field: String, from url: HTTPURL) -> Result<Cookie, CookieRefusal> {
        receive(field, from: url, now: clock.now)
    }

    /// Stores all acceptable cookies of a response's headers.
    public func receive(_ headers: HTTPFields, from url: HTTPURL) {
        receive(headers, from: url, now: clock.now)
    }

    /// Returns true once, for the first response with cookies, if no complete public suffix list is installed.
    package func takeIncompleteSuffixesNotice() -> Bool {
        guard acceptance.lacksCompleteSuffixes else { return false }
        return state.withLock { state in
            defer { state.hasReportedSuffixes = true }
            return !state.hasReportedSuffixes
        }
    }

    package func receive(_ headers: HTTPFields, from url: HTTPURL, now: Date) {
        for field in headers[fields: .setCookie] {
            receive(field.receivedText, isLatin1: field.isLatin1, from: url, now: now)
        }
    }

    @discardableResult
    private func receive(
        _ field: String, isLatin1: Bool = false, from url: HTTPURL, now: Date
    ) -> Result<Cookie, CookieRefusal> {
        let result = acceptance.evaluate(field, from: url, now: now)
        guard case .success(var cookie) = result else { return result }
        if isLatin1 { cookie.isLatin1 = true }
        guard put(cookie, now: now, mayOverlaySecure: acceptance.isSecure(url)) else {
            return .failure(.overlaysSecureCookie)
        }
        return result
    }

    /// Removes the cookie with the same name, domain and path; its value does not matter.
    public func delete(_ cookie: Cookie) {
        let cookie = acceptance.canonical(cookie) ?? cookie
        delete { $0.hasIdentity(of: cookie) }
    }

    /// Removes the cookies that match the predicate.
    public func delete(where predicate: (Cookie) -> Bool) {
        let writes = state.withLock { state in
            guard state.cookies.remove(where: predicate) else { return false }
            return state.writing.change()
        }
        if writes { write() }
    }

    /// Removes all cookies, also the saved ones.
    public func clear() { delete { _ in true } }

    /// Removes the session cookies, as a browser does at the end of its session.
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

    /// The error of the last load or save; `nil` if it succeeded.
    public var persistenceFailure: (any Error)? { state.withLock { $0.failure } }

    /// Waits until all changes are saved, for example before the process exits.
    ///
    /// - Throws: The error of the last load or save, if it failed; ``RequestError/Code/cancelled``, at once, if the waiting
    ///   Swift task is cancelled.
    public func flush() async throws {
        let isIdle = await Waiter.wait { waiter in
            state.withLock { state in
                guard !state.writing.isIdle else { return false }
                state.waiters.append(waiter)
                return true
            }
        } leave: { waiter in
            state.withLock { $0.waiters.removeAll { $0 === waiter } }
        }
        guard isIdle else { throw RequestError.cancelled }
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

    /// The cookies to save now; `nil` when everything is saved, which also resumes the waiters.
    private func nextToWrite() -> [Cookie]? {
        let now = clock.now
        let (saved, waiters) = state.withLock {
            state -> ([Cookie]?, [Waiter]) in
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

extension CookieJar: CustomStringConvertible, CustomReflectable {
    /// The number of cookies.
    public var description: String { "CookieJar with \(all.count) cookies" }
    /// The cookies, without their values.
    public var customMirror: Mirror { Mirror(self, children: ["cookies": all]) }
}
