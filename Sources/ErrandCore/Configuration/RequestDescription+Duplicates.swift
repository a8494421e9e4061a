extension RequestDescription.SendingOptions {
    /// The handling of a request while the same request is already in progress.
    ///
    /// Two requests are the same if they have equal cache keys, headers, transport options, redirect and trust
    /// policies, authenticators, cookies and cache policies. Requests with ``allow`` are ignored:
    /// other requests do not join, await or cancel them, and are not rejected because of them.
    public enum Duplicates: Sendable, Hashable {
        /// Both requests are sent; the default.
        case allow
        /// The later request fails with ``RequestError/Code/duplicate``.
        case reject
        /// The later request joins the earlier one's transfer and applies its own validation to the response.
        ///
        /// The transfer has the highest priority of the requests that wait for it. Requests with different cookies
        /// never share a transfer.
        case join
        /// The earlier request is cancelled.
        case cancelPrevious
        /// The later request waits until the earlier one has ended, whatever its result; then it is sent.
        ///
        /// Several waiting requests are sent one after another, in the order in which they were started.
        case queue
    }
}
