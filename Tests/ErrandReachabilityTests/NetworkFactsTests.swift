import ErrandCore
import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandReachability

@Suite(.limited) struct NetworkFactsTests {
    private let header =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

    private func route(
        _ name: String, flags: String = "0003", metric: Int = 100, destination: String = "00000000",
        mask: String = "00000000"
    ) -> String {
        "\(name)\t\(destination)\t0101A8C0\t\(flags)\t0\t0\t\(metric)\t\(mask)\t0\t0\t0\n"
    }

    private func status(
        _ routes: String, ipv6: String = "", _ interfaces: [String: LinuxNetworkFacts.Interface]
    ) -> NetworkStatus.Kind {
        LinuxNetworkFacts(
            ipv4Routes: header + routes, ipv6Routes: ipv6, interfaces: interfaces
        ).status.kind
    }

    @Test func defaultRouteWithTheLowestMetricDecides() {
        let all: [String: LinuxNetworkFacts.Interface] = [
            "eth0": .init(state: "up"), "wlan0": .init(state: "up", isWireless: true),
            "wwan0": .init(state: "unknown", type: 65534, deviceType: "wwan"),
            "tun0": .init(state: "unknown", type: 65534), "down0": .init(state: "down"),
        ]
        #expect(status(route("eth0"), all) == .wired)
        #expect(status(route("wlan0"), all) == .wifi)
        #expect(status(route("wwan0"), all) == .cellular)
        #expect(status(route("tun0"), all) == .other)
        #expect(status(route("eth0", metric: 200) + route("wlan0", metric: 50), all) == .wifi)
        #expect(status(route("down0", metric: 1) + route("eth0"), all) == .wired)
        #expect(status(route("down0"), all) == .none)
        #expect(status(route("gone0"), all) == .none)
    }

    @Test func unusableRoutesMeanNoNetwork() {
        let eth = ["eth0": LinuxNetworkFacts.Interface(state: "up")]
        #expect(status("", eth) == .none)
        #expect(status(route("eth0", flags: "0000"), eth) == .none)
        #expect(status(route("eth0", flags: "0201"), eth) == .none)
        #expect(status("eth0\n\n\t\t\nx y z\n", eth) == .none)
    }

    @Test func localNetworkWithoutADefaultRouteCounts() {
        let all: [String: LinuxNetworkFacts.Interface] = [
            "eth0": .init(state: "up"), "down0": .init(state: "down"),
            "lo": .init(state: "unknown", type: 772),
        ]
        func local(_ name: String) -> String {
            route(name, flags: "0001", destination: "0001A8C0", mask: "00FFFFFF")
        }
        #expect(status(local("eth0"), all) == .other)
        #expect(status(local("down0"), all) == .none)
        #expect(status(local("lo"), all) == .none)
        // A default route over an interface that is down is unusable; the local network remains.
        #expect(status(route("down0") + local("eth0"), all) == .other)
        #expect(status(local("eth0") + route("eth0"), all) == .wired)
        func ipv6(_ destination: String, _ length: String, _ flags: String = "00000001") -> String {
            let padded = destination.padding(toLength: 32, withPad: "0", startingAt: 0)
            let zeros = String(repeating: "0", count: 32)
            return
                "\(padded) \(length) \(zeros) 00 \(zeros) 00000100 00000001 00000000 \(flags) eth0\n"
        }
        #expect(status("", ipv6: ipv6("fd000001", "40"), all) == .other)
        #expect(status("", ipv6: ipv6("fe80", "40"), all) == .none)
        #expect(status("", ipv6: ipv6("ff00", "08"), all) == .none)
        #expect(status("", ipv6: ipv6("fd000001", "80", "80200001"), all) == .none)
    }

    @Test func ipv6DefaultRoutesCount() {
        let eth = [
            "eth0": LinuxNetworkFacts.Interface(state: "up"),
            "lo": .init(state: "unknown", type: 772),
        ]
        let zeros = String(repeating: "0", count: 32)
        func line(_ flags: String, _ name: String) -> String {
            "\(zeros) 00 \(zeros) 00 fe800000000000000000000000000001 00000400 00000000 00000000 \(flags) \(name)\n"
        }
        #expect(status("", ipv6: line("00000003", "eth0"), eth) == .wired)
        #expect(status("", ipv6: line("00200200", "lo"), eth) == .none)
    }
}
