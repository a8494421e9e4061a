/// Where a ``CookieJar`` keeps its cookies beyond the life of the process.
///
/// The framework brings `FileCookiePersistence`: one file that only its owner may read.
public protocol CookiePersistence: Sendable {
    /// Reads what was saved; nothing when there is nothing yet. Called once, when the jar is made.
    func load() throws -> [Cookie]
    /// Saves these cookies in place of all others: the ones that are no session cookies, oldest first.
    ///
    /// Called off the caller's thread, one call at a time, soon after a change; several changes may share a call.
    func save(_ cookies: [Cookie]) throws
}
