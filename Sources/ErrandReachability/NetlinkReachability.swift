#if os(Linux)
    public import ErrandCore
    import ErrandSystem

    /// Observes the network status with a netlink socket, until it is released.
    ///
    /// A netlink message only triggers a new read of the routes; its content is not parsed. Messages that the
    /// kernel drops when its buffer is full therefore cause no wrong status.
    public final class NetlinkReachability: Reachability {
        private let hub: NetworkStatusHub
        // Set once; `cancel()`, the only later call, is thread-safe.
        nonisolated(unsafe) private let source: (any DispatchSourceRead)?

        /// Reads the network status and starts to observe it.
        ///
        /// If the netlink socket cannot be created, the status does not change any more.
        public init() {
            hub = NetworkStatusHub(LinuxNetworkFacts.system().status)
            source = Self.watch(hub)
        }

        deinit {
            source?.cancel()
            hub.finish()
        }

        /// The current network status.
        public var current: NetworkStatus { hub.current }

        /// The current network status, then every change.
        public func changes() -> AsyncStream<NetworkStatus> { hub.changes() }

        private static func watch(_ hub: NetworkStatusHub) -> (any DispatchSourceRead)? {
            // NETLINK_ROUTE is 0 (linux/netlink.h).
            let descriptor = socket(AF_NETLINK, SocketConstant.rawForEvents, 0)
            guard descriptor >= 0 else { return nil }
            var address = NetlinkAddress()
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<NetlinkAddress>.size)) == 0
                }
            }
            guard isBound else {
                close(descriptor)
                return nil
            }
            let source = DispatchSource.makeReadSource(
                fileDescriptor: descriptor, queue: DispatchQueue(label: "errand.reachability"))
            source.setEventHandler {
                drain(descriptor)
                hub.update(LinuxNetworkFacts.system().status)
            }
            source.setCancelHandler { close(descriptor) }
            source.resume()
            // Includes changes between the first read and the bind.
            hub.update(LinuxNetworkFacts.system().status)
            return source
        }

        /// Reads and discards all pending messages.
        ///
        /// ENOBUFS means that messages were dropped, and is ignored.
        private static func drain(_ descriptor: Int32) {
            withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { buffer in
                while true {
                    let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                    if count > 0 { continue }
                    if count < 0, errno == EINTR || errno == ENOBUFS { continue }
                    return
                }
            }
        }
    }

    /// `struct sockaddr_nl` (linux/netlink.h), which the Glibc module does not contain.
    private struct NetlinkAddress {
        var family = sa_family_t(AF_NETLINK)
        var padding: UInt16 = 0
        var port: UInt32 = 0
        /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE.
        var groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
    }

    extension LinuxNetworkFacts {
        /// Reads the current facts from the kernel.
        ///
        /// A file that cannot be read is treated as empty.
        static func system() -> LinuxNetworkFacts {
            func text(_ path: String) -> String {
                (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            }
            func word(_ path: String) -> String {
                String(text(path).prefix(upToByte: "\n").trimmingBlanks())
            }
            let root = "/sys/class/net"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
            var interfaces: [String: Interface] = [:]
            for name in names {
                let folder = root + "/" + name
                let deviceType = text(folder + "/uevent").pieces(at: "\n")
                    .compactMap { $0.dropping(prefix: "DEVTYPE=") }.first.map { String($0) }
                interfaces[name] = Interface(
                    state: word(folder + "/operstate"), type: Int(word(folder + "/type")) ?? 0,
                    isWireless: ["wireless", "phy80211"].contains {
                        FileManager.default.fileExists(atPath: folder + "/" + $0)
                    }, deviceType: deviceType)
            }
            return LinuxNetworkFacts(
                ipv4Routes: text("/proc/net/route"), ipv6Routes: text("/proc/net/ipv6_route"),
                interfaces: interfaces)
        }
    }
#endif
