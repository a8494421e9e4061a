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
        package let BIO_get_data: Get
        package let BIO_set_data: Set
        package let BIO_set_flags: SetNumber
        package let BIO_clear_flags: SetNumber
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
            BIO_get_data = try find("BIO_get_data")
            BIO_set_data = try find("BIO_set_data")
            BIO_set_flags = try find("BIO_set_flags")
            BIO_clear_flags = try find("BIO_clear_flags")
            BIO_test_flags = try find("BIO_test_flags")
            BIO_set_callback_ex = try find("BIO_set_callback_ex")
            BIO_get_callback_arg = try find("BIO_get_callback_arg")
            BIO_set_callback_arg = try find("BIO_set_callback_arg")
        }
    }

    /// A `BIO_METHOD`: the functions of a new kind of `BIO`.
    package final class StreamKinds: FunctionGroup {
        package typealias Index = @convention(c) () -> Int32
        package typealias MakeKind = @convention(c) (Int32, UnsafePointer<CChar>) -> Object?
        package typealias Write = @convention(c) (Object?, UnsafePointer<CChar>?, Int32) -> Int32
        package typealias SetWrite = @convention(c) (Object?, Write?) -> Int32
        package typealias Control = @convention(c) (Object?, Int32, Int, Object?) -> Int
        package typealias SetControl = @convention(c) (Object?, Control?) -> Int32
        package typealias Destroy = @convention(c) (Object?) -> Int32
        package typealias SetDestroy = @convention(c) (Object?, Destroy?) -> Int32

        package let BIO_get_new_index: Index
        package let BIO_meth_new: MakeKind
        package let BIO_meth_set_write: SetWrite
        package let BIO_meth_set_ctrl: SetControl
        package let BIO_meth_set_destroy: SetDestroy

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            BIO_get_new_index = try find("BIO_get_new_index")
            BIO_meth_new = try find("BIO_meth_new")
            BIO_meth_set_write = try find("BIO_meth_set_write")
            BIO_meth_set_ctrl = try find("BIO_meth_set_ctrl")
            BIO_meth_set_destroy = try find("BIO_meth_set_destroy")
        }
    }
}
