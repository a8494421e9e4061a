/// The storage of a ``CookieJar`` across launches.
///
/// `FileCookiePersistence` stores the cookies in one file that only its owner can read.
public protocol CookiePersistence: Sendable {
    /// Returns the saved cookies; an empty array if nothing was saved yet.
    ///
    /// Called once, when the jar is created.
    func load() throws -> [Cookie]
    /// Replaces the saved cookies with these, oldest first; session cookies are not among them.
    ///
    /// Called on a background thread, one call at a time, soon after a change. One call can save several
    /// changes.
    func save(_ cookies: [Cookie]) throws
}
