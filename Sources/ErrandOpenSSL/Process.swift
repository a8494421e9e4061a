// swift-format-ignore-file: AlwaysUseLowerCamelCase

extension OpenSSL {
    /// The errors of the thread, in a queue, and their texts.
    package final class Errors: FunctionGroup {
        package typealias Next = @convention(c) () -> UInt
        package typealias Text = @convention(c) (UInt) -> UnsafePointer<CChar>?
        package typealias VerificationText = @convention(c) (Int) -> UnsafePointer<CChar>?
        package typealias Clear = @convention(c) () -> Void

        package let ERR_get_error: Next
        package let ERR_clear_error: Clear
        package let ERR_reason_error_string: Text
        package let X509_verify_cert_error_string: VerificationText

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            ERR_get_error = try find("ERR_get_error")
            ERR_clear_error = try find("ERR_clear_error")
            ERR_reason_error_string = try find("ERR_reason_error_string")
            X509_verify_cert_error_string = try find("X509_verify_cert_error_string")
        }

        /// The first error of the queue, as OpenSSL's number and text; empties the queue.
        package func take() -> (code: UInt, text: String) {
            let code = ERR_get_error()
            ERR_clear_error()
            guard code != 0 else { return (0, "unknown error") }
            return (
                code, ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
            )
        }
    }

    /// What all of the process shares.
    package final class Process: FunctionGroup {
        package typealias Initialize = @convention(c) (UInt64, UnsafeRawPointer?) -> Int32
        package typealias FreeData =
            @convention(c) (Object?, Object?, Object?, Int32, Int, Object?) -> Void
        package typealias NewIndex =
            @convention(c) (Int32, Int, Object?, Object?, Object?, FreeData?) -> Int32

        package let OPENSSL_init_crypto: Initialize
        package let CRYPTO_get_ex_new_index: NewIndex

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            OPENSSL_init_crypto = try find("OPENSSL_init_crypto")
            CRYPTO_get_ex_new_index = try find("CRYPTO_get_ex_new_index")
        }
    }
}
