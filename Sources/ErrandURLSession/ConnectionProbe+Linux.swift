#if os(Linux) || os(Android)
    import Foundation

    /// Whether a connection is still being set up.
    ///
    /// NB: FoundationNetworking tells neither when it connects nor when it has; without looking, a limit of
    /// connecting would cut off every answer that is slow to begin. So the kernel is asked for this process's
    /// own sockets. DNS and the TLS handshake are not seen: there the limit of silence counts.
    enum ConnectionProbe {
        /// A socket in state SYN_SENT in a table of the kernel's.
        struct Candidate: Sendable, Hashable {
            /// The peer's address and port, as the table has them.
            let remote: String
            let inode: String

            var port: Int? { remote.split(separator: ":").last.flatMap { Int($0, radix: 16) } }
        }

        /// The sockets of this process that wait for a connection to one of the peers' ports.
        static func connecting(toPortsOf peers: [ConnectionPeer]) -> [Candidate] {
            let candidates = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].flatMap { table in
                connecting(in: read(table)).filter { candidate in
                    peers.contains { $0.port == candidate.port }
                }
            }
            guard !candidates.isEmpty else { return [] }
            let own = ownSockets()
            return candidates.filter { own.contains($0.inode) }
        }

        /// Whether one of them leads to an address of one of the peers; looks names up.
        static func leads(_ candidates: [Candidate], to peers: [ConnectionPeer]) -> Bool {
            let remotes = Set(candidates.map(\.remote))
            return peers.contains { peer in
                addresses(of: peer.host).contains { address in
                    remotes.contains(address + ":" + hex(UInt32(clamping: peer.port), digits: 4))
                }
            }
        }

        /// The sockets in state SYN_SENT (02) in a table.
        static func connecting(in table: String) -> [Candidate] {
            table.split(separator: "\n").dropFirst().compactMap { line in
                let columns = line.split(separator: " ")
                guard columns.count > 9, columns[3] == "02" else { return nil }
                return Candidate(remote: String(columns[2]), inode: String(columns[9]))
            }
        }

        /// A host's addresses as the kernel writes them: words in the machine's order.
        static func addresses(of host: String) -> [String] {
            let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
            let name = isBracketed ? String(host.dropFirst().dropLast()) : host
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            var list: UnsafeMutablePointer<addrinfo>?
            guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
            defer { freeaddrinfo(list) }
            var addresses: [String] = []
            var next = list
            while let entry = next?.pointee {
                addresses += text(of: entry)
                next = entry.ai_next
            }
            return addresses
        }

        private static func text(of entry: addrinfo) -> [String] {
            guard let address = entry.ai_addr else { return [] }
            switch entry.ai_family {
            case AF_INET:
                let word = UnsafeRawPointer(address).loadUnaligned(
                    fromByteOffset: 4, as: UInt32.self)
                // The second is how a socket for both kinds has it.
                return [hex(word), "0000000000000000" + hex(UInt32(0xFFFF).bigEndian) + hex(word)]
            case AF_INET6:
                let words = (0..<4).map { index in
                    UnsafeRawPointer(address).loadUnaligned(
                        fromByteOffset: 8 + 4 * index, as: UInt32.self)
                }
                return [words.map { hex($0) }.joined()]
            default: return []
            }
        }

        private static func hex(_ value: UInt32, digits: Int = 8) -> String {
            let text = String(value, radix: 16, uppercase: true)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }

        private static func read(_ path: String) -> String {
            // Files in /proc have no size: read until the end.
            guard let handle = FileHandle(forReadingAtPath: path) else { return "" }
            defer { try? handle.close() }
            let data = (try? handle.readToEnd()) ?? nil
            return String(decoding: data ?? Data(), as: UTF8.self)
        }

        private static func ownSockets() -> Set<String> {
            let directory = "/proc/self/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return Set(
                names.compactMap { name in
                    let target = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "\(directory)/\(name)")
                    guard let target, target.hasPrefix("socket:["), target.hasSuffix("]") else {
                        return nil
                    }
                    return String(target.dropFirst(8).dropLast())
                })
        }
    }
#endif
