/// A transport that counts its connections, for metrics.
public protocol ConnectionCounting: Transport {
    /// The number of connections that are open or being opened, in use and idle.
    ///
    /// Read on any thread.
    var openConnections: Int { get }
}
