#if os(Linux) || os(Android)
    import ErrandHTTP
    import ErrandSystem
    import Foundation

    /// Detects whether a connection is still being established.
    ///
    /// FoundationNetworking (Swift 6.3.1) does not report when it connects. Without this check, the connect
    /// timeout would also end requests whose response is slow to start. The probe therefore reads the TCP
    /// sockets of this process from the kernel. It does not see DNS lookups and TLS handshakes; the idle
    /// timeout applies to them.
    enum ConnectionProbe {
        /// A socket in the state SYN_SENT.
        struct Candidate: Sendable, Hashable {
            /// The peer's address and port, in the format of `/proc/net/tcp`.
            let remote: String
            let inode: String

            var port: Int? { remote.pieces(at: ":").last.flatMap { Int($0, radix: 16) } }
        }

        /// The sockets of this process that are connecting to a port of one of the peers.
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

        /// Whether one of the sockets connects to an address of one of the peers.
        ///
        /// Resolves host names.
        static func isConnecting(_ candidates: [Candidate], to peers: [ConnectionPeer]) -> Bool {
            let remotes = Set(candidates.map(\.remote))
            return peers.contains { peer in
                addresses(of: peer.host).contains { address in
                    remotes.contains(address + ":" + hex(UInt32(clamping: peer.port), digits: 4))
                }
            }
        }

        /// The sockets in the state SYN_SENT (02) in the text of `/proc/net/tcp`.
        static func connecting(in table: String) -> [Candidate] {
            table.pieces(at: "\n").dropFirst().compactMap { line in
                let columns = line.pieces(at: " ")
                guard columns.count > 9, columns[3] == "02" else { return nil }
                return Candidate(remote: String(columns[2]), inode: String(columns[9]))
            }
        }

        /// A host's addresses in the kernel's format: 32-bit words in native byte order, in hexadecimal.
        static func addresses(of host: String) -> [String] {
            let address = host.dropping(prefix: "[")?.dropping(suffix: "]")
            let name = address.map { String($0) } ?? host
            var hints = addrinfo()
            hints.ai_socktype = SocketConstant.stream
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
                // A dual-stack socket contains the address in its IPv4-mapped form.
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
            // Files in /proc report the size 0, so they are read to the end.
            guard let file = try? FileAccess.reading(path) else { return "" }
            let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
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
                    return target?.dropping(prefix: "socket:[")?.dropping(suffix: "]")
                        .map { String($0) }
                })
        }
    }
#endif
