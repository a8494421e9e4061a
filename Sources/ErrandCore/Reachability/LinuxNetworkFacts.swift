/// What a Linux kernel says about its routes and interfaces, and what follows: pure, fed with the texts of
/// `/proc/net/route`, `/proc/net/ipv6_route` and `/sys/class/net`.
package struct LinuxNetworkFacts: Sendable, Hashable {
    /// One interface, as its folder in `/sys/class/net` describes it.
    package struct Interface: Sendable, Hashable {
        /// The text of `operstate`, such as `up`, `down` or `unknown`.
        package var state: String
        /// `type`: an ARP hardware type; 1 is Ethernet.
        package var type: Int
        /// Whether there is a folder `wireless` or `phy80211`.
        package var isWireless: Bool
        /// `DEVTYPE` in `uevent`, such as `wlan` or `wwan`.
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

    /// The kind of the interface behind the cheapest default route that is up.
    package var status: NetworkStatus {
        let routes = (Self.ipv4(ipv4Routes) + Self.ipv6(ipv6Routes)).sorted {
            $0.metric < $1.metric
        }
        for route in routes {
            guard let interface = interfaces[route.interface] else { continue }
            guard ["up", "unknown", "dormant"].contains(interface.state) else { continue }
            let kind = Self.kind(of: interface, named: route.interface)
            return NetworkStatus(kind, isExpensive: kind == .cellular)
        }
        return NetworkStatus(.none)
    }

    private struct Route {
        var interface: String
        var metric: UInt32
    }

    // From linux/route.h.
    private static let isUp: UInt32 = 0x1
    private static let isReject: UInt32 = 0x200

    /// Reads lines of `Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT`.
    private static func ipv4(_ text: String) -> [Route] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            guard fields.count >= 8, UInt32(fields[1], radix: 16) == 0,
                UInt32(fields[7], radix: 16) == 0, let flags = UInt32(fields[3], radix: 16),
                flags & isUp != 0, flags & isReject == 0
            else { return nil }
            return Route(interface: String(fields[0]), metric: UInt32(fields[6]) ?? .max)
        }
    }

    /// Reads lines of `destination length source length next-hop metric refcnt use flags interface`.
    private static func ipv6(_ text: String) -> [Route] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            guard fields.count >= 10, fields[0].allSatisfy({ $0 == "0" }), fields[1] == "00",
                let flags = UInt32(fields[8], radix: 16), flags & isUp != 0, flags & isReject == 0,
                fields[9] != "lo"
            else { return nil }
            return Route(
                interface: String(fields[9]), metric: UInt32(fields[5], radix: 16) ?? .max)
        }
    }

    private static func kind(of interface: Interface, named name: String) -> NetworkStatus.Kind {
        if interface.deviceType == "wwan"
            || ["wwan", "rmnet", "ppp"].contains(where: name.hasPrefix)
        {
            return .cellular
        }
        if interface.isWireless || interface.deviceType == "wlan" { return .wifi }
        return interface.type == 1 ? .wired : .other
    }
}
