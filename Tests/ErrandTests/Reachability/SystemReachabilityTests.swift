#if os(Linux)
    import Errand
    import ErrandReachability
    import Foundation
    import TestSupport
    import Testing

    @Suite(.serialized, .limited) struct SystemReachabilityTests {
        @Test func statusIsKnownWithoutSendingAnything() async {
            let reachability = SystemReachability()
            #expect(reachability.current.kind != .unknown)
            var changes = reachability.changes().makeAsyncIterator()
            #expect(await changes.next() != nil)
        }

        @Test func deallocationEndsSequencesAndClosesTheSocket() async {
            weak var weakReachability: SystemReachability?
            let changes: AsyncStream<NetworkStatus>
            do {
                let reachability = SystemReachability()
                weakReachability = reachability
                changes = reachability.changes()
            }
            #expect(weakReachability == nil)
            var count = 0
            for await _ in changes { count += 1 }
            #expect(count >= 1)
            // The dispatch source closes the socket later, on its own queue.
            var attempts = 0
            while netlinkSockets() > 0, attempts < 100_000 {
                attempts += 1
                await Task.yield()
            }
            #expect(netlinkSockets() == 0)
        }

        private func netlinkSockets() -> Int {
            let folder = "/proc/self/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let inodes = Set(
                names.compactMap { name -> String? in
                    let target = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: folder + "/" + name)
                    guard let target, target.hasPrefix("socket:[") else { return nil }
                    return String(target.dropFirst(8).dropLast())
                })
            let table = (try? String(contentsOfFile: "/proc/net/netlink", encoding: .utf8)) ?? ""
            return table.split(separator: "\n").count { line in
                line.split(separator: " ").last.map { inodes.contains(String($0)) } ?? false
            }
        }
    }
#endif
