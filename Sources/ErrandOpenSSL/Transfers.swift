// swift-format-ignore-file: AlwaysUseLowerCamelCase

extension OpenSSL {
    /// The functions that read or write.
    ///
    /// With the streams of libcurl, they must run within a call of libcurl: otherwise they end the process
    /// if the peer has reset the connection. So their users use streams in memory;
    /// `Scripts/check-boundaries` has a list of them.
    package final class Transfers: FunctionGroup {
        package typealias Read =
            @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32
        package typealias Write =
            @convention(c) (Object?, UnsafeRawPointer?, Int32) -> Int32

        package let SSL_connect: Act
        package let SSL_read: Read
        package let SSL_write: Write
        package let SSL_shutdown: Act
        // A stream.
        package let BIO_read: Read
        package let BIO_write: Write

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            SSL_connect = try find("SSL_connect")
            SSL_read = try find("SSL_read")
            SSL_write = try find("SSL_write")
            SSL_shutdown = try find("SSL_shutdown")
            BIO_read = try find("BIO_read")
            BIO_write = try find("BIO_write")
        }
    }
}
