public import ErrandHTTP

extension RequestDescription {
    /// How a request is sent.
    public struct SendingOptions: Sendable {
        package init() {}

        /// The priority among waiting requests; ``RequestTask/priority`` changes it while the request waits.
        ///
        /// Default ``RequestPriority/normal``. It has an effect if ``Configuration/limits`` make requests wait.
        public var priority: RequestPriority = .normal
        /// What happens when an identical request is in progress.
        ///
        /// Default ``RequestDescription/SendingOptions/Duplicates/allow``: both are sent. Errors: ``RequestError/Code/duplicate`` with
        /// ``RequestDescription/SendingOptions/Duplicates/reject``. <doc:RetriesAndLimits> defines identical requests.
        public var duplicates: RequestDescription.SendingOptions.Duplicates = .allow
        /// Which redirects are followed.
        ///
        /// Default `nil`: ``Configuration/redirectPolicy``, which follows 20, none from https to http. Errors:
        /// ``RequestError/Code/tooManyRedirects``, ``RequestError/Code/unsafeRedirect``,
        /// ``RequestError/Code/bodyNotReplayable``.
        public var redirects: RedirectPolicy?
        /// Decides about a failed attempt before ``Configuration/retryDecider`` and the policy do.
        ///
        /// Default `nil`. Called off the main actor; it must be fast.
        public var retryDecider: RetryDecider?
        /// What happens while there is no network.
        ///
        /// Default `nil`: ``Configuration/connectivityPolicy``, which sends anyway. Errors:
        /// ``RequestError/Code/offline``; ``RequestError/Code/invalidConfiguration`` without
        /// ``Configuration/reachability``.
        public var connectivity: ConnectivityPolicy?
        /// Trust over TLS: authorities, pins and client certificates.
        ///
        /// Default `nil`: `security` of ``Configuration/transportOptions``, otherwise the system's trust. Errors:
        /// ``RequestError/Code/unsupported`` if the transport cannot do it. See <doc:Security>.
        public var security: SecurityPolicy?
        /// Transport options of this endpoint: HTTP version, decoding, limits of size, proxy, address family.
        ///
        ///     request.sending.transport.httpVersion = .http2
        ///
        /// Default none: ``Configuration/transportOptions``. A response that is not decoded has a cache entry of its
        /// own. Errors: ``RequestError/Code/unsupported`` if the transport cannot do it, and in an outbox.
        public var transport = TransportOverrides()
    }
}
