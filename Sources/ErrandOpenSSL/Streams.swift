// swift-format-ignore-file: AlwaysUseLowerCamelCase

extension OpenSSL {
    /// A `BIO`: the stream of bytes below a connection.
    package final class Streams: FunctionGroup {
        package typealias MakeBuffer = @convention(c) (UnsafeRawPointer?, Int32) -> Object?
        package typealias TestFlags = @convention(c) (UnsafeRawPointer?, Int32) -> Int32
        package typealias Callback =
            @convention(c) (
                Object?, Int32, UnsafePointer<CChar>?, Int, Int32, Int, Int32,
                UnsafeMutablePointer<Int>?
            ) -> Int
        package typealias SetCallback = @convention(c) (Object?, Callback?) -> Void

        package let BIO_new: Get
        package let BIO_free: Act
        package let BIO_s_mem: Make
        package let BIO_new_mem_buf: MakeBuffer
        package let BIO_ctrl_pending: Size
        package let BIO_test_flags: TestFlags
        // The callback of all operations.
        package let BIO_set_callback_ex: SetCallback
        package let BIO_get_callback_arg: Get
        package let BIO_set_callback_arg: Set

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            BIO_new = try find("BIO_new")
            BIO_free = try find("BIO_free")
            BIO_s_mem = try find("BIO_s_mem")
            BIO_new_mem_buf = try find("BIO_new_mem_buf")
            BIO_ctrl_pending = try find("BIO_ctrl_pending")
            BIO_test_flags = try find("BIO_test_flags")
            BIO_set_callback_ex = try find("BIO_set_callback_ex")
            BIO_get_callback_arg = try find("BIO_get_callback_arg")
            BIO_set_callback_arg = try find("BIO_set_callback_arg")
        }
    }
}
