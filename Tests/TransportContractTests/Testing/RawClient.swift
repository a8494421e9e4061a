import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A socket client that tests the server without an HTTP library.
struct RawClient {
    let descriptor: Int32

    init(port: Int) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Reads until the server closes the connection.
    ///
    /// `error` is the `errno` of a failed read, such as after a reset.
    func readToEnd() -> (text: String, error: Int32?) {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 { return (String(decoding: all, as: UTF8.self), errno) }
            if count == 0 { return (String(decoding: all, as: UTF8.self), nil) }
            all += buffer[..<count]
        }
    }

    /// Reads until the text ends with `suffix`.
    func read(until suffix: String) -> String {
        var all: [UInt8] = []
        var byte: UInt8 = 0
        while !String(decoding: all, as: UTF8.self).hasSuffix(suffix) {
            guard recv(descriptor, &byte, 1, 0) == 1 else { break }
            all.append(byte)
        }
        return String(decoding: all, as: UTF8.self)
    }

    func close() {
        #if canImport(Glibc)
            _ = Glibc.close(descriptor)
        #else
            _ = Darwin.close(descriptor)
        #endif
    }
}
