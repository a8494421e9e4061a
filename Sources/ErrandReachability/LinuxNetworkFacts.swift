package import ErrandCore

/// The routes and interfaces of a Linux kernel, from which ``status`` computes the network status.
///
/// A pure value, created from the texts of `/proc/net/route`, `/proc/net/ipv6_route` and `/sys/class/net`.
package struct LinuxNetworkFacts: Sendable, Hashable {
    /// One interface, from its folder in `/sys/class/net`.
    package struct Interface: Sendable, Hashable {
        /// The text of `operstate`, such as `up`, `down` or `unknown`.
        package var state: String
        /// The ARP hardware type from `type`; 1 is Ethernet.
        package var type: Int
        /// Whether the folder contains `wireless` or `phy80211`.
        package var isWireless: Bool
        /// The value of `DEVTYPE` in `uevent`, such as `wlan` or `wwan`.
        package var deviceType: String?

        package init(
            state: String, type: Int = 1, isWireless: Bool = false, deviceType: String? = nil
        ) {
            self.state = state
            self.type = type
            self.isWireless = isWireless
            self.deviceType = deviceType
        }
    }

    package var ipv4Routes: String
    package var ipv6Routes: String
    package var interfaces: [String: Interface]

    package init(ipv4Routes: String, ipv6Routes: String, interfaces: [String: Interface]) {
        self.ipv4Routes = ipv4Routes
        self.ipv6Routes = ipv6Routes
        self.interfaces = interfaces
    }

    /// The network status: the kind of the interface of the usable default route with the lowest metric.
    ///
    /// Without a default route it is ``NetworkStatus/Kind/other`` if another route is usable, because an isolated
    /// network is a network too, and otherwise ``NetworkStatus/Kind/none``.
    package var status: NetworkStatus {
        let routes = (Self.ipv4(ipv4Routes) + Self.ipv6(ipv6Routes))
            .sorted { $0.metric < $1.metric }
            .compactMap { route in usable(route.interface).map { (route, $0) } }
        if let (route, interface) = routes.first(where: \.0.isDefault) {
            let kind = Self.kind(of: interface, named: route.interface)
            return NetworkStatus(kind, isExpensive: kind == .cellular)
        }
        return NetworkStatus(routes.isEmpty ? .none : .other)
    }

    /// The interface, if it is up and not a loopback interface.
    private func usable(_ name: String) -> Interface? {
        guard let interface = interfaces[name], name != "lo", interface.type != Self.loopback,
            ["up", "unknown", "dormant"].contains(interface.state)
        else { return nil }
        return interface
    }

    private struct Route {
        var interface: String
        var metric: UInt32
        var isDefault: Bool
    }

    // From linux/route.h and linux/ipv6_route.h.
    private static let isUp: UInt32 = 0x1
    private static let isReject: UInt32 = 0x200
    private static let isLocal: UInt32 = 0x8000_0000
    // From linux/if_arp.h.
    private static let loopback = 772

    /// Parses lines of `Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT`.
    private static func ipv4(_ text: String) -> [Route] {
        text.pieces(at: "\n").compactMap { line in
            let fields = line.utf8.split(whereSeparator: ByteSet("\t ").contains).map {
                Substring($0)
            }
            guard fields.count >= 8, let destination = UInt32(fields[1], radix: 16),
                let mask = UInt32(fields[7], radix: 16), let flags = UInt32(fields[3], radix: 16),
                flags & isUp != 0, flags & isReject == 0
            else { return nil }
            return Route(
                interface: String(fields[0]), metric: UInt32(fields[6]) ?? .max,
                isDefault: destination == 0 && mask == 0)
        }
    }

    /// Parses lines of `destination length source length next-hop metric refcnt use flags interface`.
    private static func ipv6(_ text: String) -> [Route] {
        text.pieces(at: "\n").compactMap { line in
            let fields = line.utf8.split(whereSeparator: ByteSet("\t ").contains).map {
                Substring($0)
            }
            guard fields.count >= 10, fields[0].utf8.count == 32,
                let length = UInt8(fields[1], radix: 16), let flags = UInt32(fields[8], radix: 16),
                flags & isUp != 0, flags & (isReject | isLocal) == 0,
                !isLinkLocalOrMulticast(fields[0])
            else { return nil }
            return Route(
                interface: String(fields[9]), metric: UInt32(fields[5], radix: 16) ?? .max,
                isDefault: length == 0 && fields[0].utf8.allSatisfy { $0 == UInt8(ascii: "0") })
        }
    }

    /// Whether a route is link-local (fe80::/10) or multicast (ff00::/8).
    ///
    /// Every interface has such routes, even without a connection.
    private static func isLinkLocalOrMulticast(_ destination: Substring) -> Bool {
        guard let start = UInt16(destination.prefix(4), radix: 16) else { return true }
        return start & 0xffc0 == 0xfe80 || start & 0xff00 == 0xff00
    }

    private static func kind(of interface: Interface, named name: String) -> NetworkStatus.Kind {
        if interface.deviceType == "wwan"
            || ["wwan", "rmnet", "ppp"].contains(where: { name.starts(withBytes: $0) })
        {
            return .cellular
        }
        if interface.isWireless || interface.deviceType == "wlan" { return .wifi }
        return interface.type == 1 ? .wired : .other
    }
}
