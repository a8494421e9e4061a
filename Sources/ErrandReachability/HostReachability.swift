public import ErrandCore
import ErrandSystem
import Synchronization

/// Observes whether this machine has a route to one host.
///
///     let host = HostReachability("printer.local")
///     for await status in host.changes() { … }
///
/// The status is ``NetworkStatus/Kind/none`` if the name has no address, or if the system has no route to any of its
/// addresses; otherwise it is the status of the system, or ``NetworkStatus/Kind/other`` if the system reports no network,
/// as for this machine itself. It is ``NetworkStatus/Kind/unknown`` before the first check.
///
/// A check resolves the name and asks the system for a route. It sends no packet to the host, so a host that is switched
/// off can have a route. The host is checked again when the network status changes, and by ``check()``.
public final class HostReachability: Reachability {
    private let hub = NetworkStatusHub()
    private let system: any Reachability
    private let hasRoute: @Sendable () async -> Bool
    private let watcher = Mutex<Task<Void, Never>?>(nil)

    /// Starts to observe a host.
    ///
    /// - Parameters:
    ///   - host: A name or an address, without brackets.
    ///   - system: The network status of the system, whose changes cause a check.
    public convenience init(_ host: String, system: any Reachability) {
        self.init(system: system) { await HostRoute.exists(to: host) }
    }

    #if os(Linux) || canImport(Network)
        /// Starts to observe a host, with the network status of ``SystemReachability``.
        ///
        /// - Parameter host: A name or an address, without brackets.
        public convenience init(_ host: String) {
            self.init(host, system: SystemReachability())
        }
    #endif

    init(system: any Reachability, hasRoute: @escaping @Sendable () async -> Bool) {
        self.system = system
        self.hasRoute = hasRoute
        let task = Task { [weak self, system] in
            for await _ in system.changes() { await self?.check() }
        }
        watcher.withLock { $0 = task }
    }

    deinit {
        watcher.withLock { $0?.cancel() }
        hub.finish()
    }

    /// The status of the last check.
    public var current: NetworkStatus { hub.current }

    /// The current status, then every change.
    public func changes() -> AsyncStream<NetworkStatus> { hub.changes() }

    /// Checks the host now, and returns its status.
    @discardableResult
    public func check() async -> NetworkStatus {
        let isReachable = await hasRoute()
        let system = system.current
        let status: NetworkStatus =
            if !isReachable {
                NetworkStatus(.none)
            } else if system.isConnected == false {
                NetworkStatus(.other)
            } else {
                system
            }
        hub.update(status)
        return status
    }
}

/// Asks the system for a route.
enum HostRoute {
    // A name server may need seconds, during which no thread of the cooperative pool must wait.
    private static let queue = DispatchQueue(
        label: "errand.reachability.host", attributes: .concurrent)

    /// Whether one of the host's addresses has a route.
    static func exists(to host: String) async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: find(host)) }
        }
    }

    private static func find(_ host: String) -> Bool {
        var hints = addrinfo()
        hints.ai_socktype = SocketConstant.datagram
        var list: UnsafeMutablePointer<addrinfo>?
        // The port is not used: nothing is sent.
        guard getaddrinfo(host, "9", &hints, &list) == 0 else { return false }
        defer { freeaddrinfo(list) }
        var next = list
        while let info = next?.pointee {
            if hasRoute(info) { return true }
            next = info.ai_next
        }
        return false
    }

    /// `connect` of a datagram socket selects a route and sends nothing.
    private static func hasRoute(_ info: addrinfo) -> Bool {
        let descriptor = socket(info.ai_family, info.ai_socktype, info.ai_protocol)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return connect(descriptor, info.ai_addr, info.ai_addrlen) == 0
    }
}
