#if os(Linux) || os(Android)
    import Foundation

    /// Whether a connection is still being set up.
    ///
    /// NB: FoundationNetworking tells neither when it connects nor when it has; without looking, a limit of
    /// connecting would cut off every answer that is slow to begin. So the kernel is asked for this process's
    /// own sockets. DNS and the TLS handshake are not seen: there the limit of silence counts.
    enum ConnectionProbe {
        /// Whether one of this process's sockets waits for its connection to a port.
        ///
        /// - Parameter port: The port; `nil` for any, as with a proxy.
        static func isConnecting(to port: Int?) -> Bool {
            let candidates = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].flatMap { table in
                connecting(in: read(table), to: port)
            }
            guard !candidates.isEmpty else { return false }
            return !ownSockets().isDisjoint(with: candidates)
        }

        /// The inodes of sockets in state SYN_SENT (02) in a table of the kernel's.
        static func connecting(in table: String, to port: Int?) -> [String] {
            table.split(separator: "\n").dropFirst().compactMap { line in
                let columns = line.split(separator: " ")
                guard columns.count > 9, columns[3] == "02" else { return nil }
                let remote = columns[2].split(separator: ":").last.flatMap { Int($0, radix: 16) }
                return port == nil || remote == port ? String(columns[9]) : nil
            }
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
