// swift-format-ignore-file: AlwaysUseLowerCamelCase

extension OpenSSL {
    /// An `X509`, its names and its key, and private keys.
    package final class Certificates: FunctionGroup {
        package typealias Encode =
            @convention(c) (
                UnsafeRawPointer?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?
            ) -> Int32
        package typealias Decode =
            @convention(c) (
                UnsafeMutablePointer<Object?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int
            ) -> Object?
        package typealias Element = @convention(c) (UnsafeRawPointer?, Int32) -> Object?
        package typealias Extension =
            @convention(c) (
                UnsafeRawPointer?, Int32, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Int32>?
            ) -> Object?
        package typealias NameValue =
            @convention(c) (UnsafeRawPointer?, UnsafeMutablePointer<Int32>) -> Object?
        package typealias ReadKey =
            @convention(c) (Object?, Object?, Object?, Object?) -> Object?

        package let X509_free: Free
        package let d2i_X509: Decode
        package let i2d_X509: Encode
        package let X509_get_X509_PUBKEY: Get
        package let i2d_X509_PUBKEY: Encode
        // Names.
        package let X509_get_ext_d2i: Extension
        package let GENERAL_NAME_get0_value: NameValue
        package let GENERAL_NAMES_free: Free
        // Stacks.
        package let OPENSSL_sk_num: Test
        package let OPENSSL_sk_value: Element
        // Private keys.
        package let PEM_read_bio_PrivateKey: ReadKey
        package let EVP_PKEY_free: Free

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            X509_free = try find("X509_free")
            d2i_X509 = try find("d2i_X509")
            i2d_X509 = try find("i2d_X509")
            X509_get_X509_PUBKEY = try find("X509_get_X509_PUBKEY")
            i2d_X509_PUBKEY = try find("i2d_X509_PUBKEY")
            X509_get_ext_d2i = try find("X509_get_ext_d2i")
            GENERAL_NAME_get0_value = try find("GENERAL_NAME_get0_value")
            GENERAL_NAMES_free = try find("GENERAL_NAMES_free")
            OPENSSL_sk_num = try find("OPENSSL_sk_num")
            OPENSSL_sk_value = try find("OPENSSL_sk_value")
            PEM_read_bio_PrivateKey = try find("PEM_read_bio_PrivateKey")
            EVP_PKEY_free = try find("EVP_PKEY_free")
        }
    }

    /// The verification of a certificate: its authorities, parameters and result.
    package final class Verifications: FunctionGroup {
        package typealias Add = @convention(c) (Object?, Object?) -> Int32
        package typealias Prepare =
            @convention(c) (Object?, Object?, Object?, Object?) -> Int32
        package typealias SetFlags = @convention(c) (Object?, UInt) -> Void
        package typealias SetHostFlags = @convention(c) (Object?, UInt32) -> Void

        // Stores of authorities.
        package let X509_STORE_new: Make
        package let X509_STORE_free: Free
        package let X509_STORE_add_cert: Add
        // One verification.
        package let X509_STORE_CTX_new: Make
        package let X509_STORE_CTX_free: Free
        package let X509_STORE_CTX_init: Prepare
        package let X509_STORE_CTX_set_default: SetText
        package let X509_STORE_CTX_set_flags: SetFlags
        package let X509_verify_cert: Act
        package let X509_STORE_CTX_get0_chain: Get
        package let X509_STORE_CTX_get0_cert: Get
        package let X509_STORE_CTX_set_error: SetNumber
        // Parameters.
        package let X509_VERIFY_PARAM_set1_ip_asc: SetText
        package let X509_VERIFY_PARAM_set_hostflags: SetHostFlags

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            X509_STORE_new = try find("X509_STORE_new")
            X509_STORE_free = try find("X509_STORE_free")
            X509_STORE_add_cert = try find("X509_STORE_add_cert")
            X509_STORE_CTX_new = try find("X509_STORE_CTX_new")
            X509_STORE_CTX_free = try find("X509_STORE_CTX_free")
            X509_STORE_CTX_init = try find("X509_STORE_CTX_init")
            X509_STORE_CTX_set_default = try find("X509_STORE_CTX_set_default")
            X509_STORE_CTX_set_flags = try find("X509_STORE_CTX_set_flags")
            X509_verify_cert = try find("X509_verify_cert")
            X509_STORE_CTX_get0_chain = try find("X509_STORE_CTX_get0_chain")
            X509_STORE_CTX_get0_cert = try find("X509_STORE_CTX_get0_cert")
            X509_STORE_CTX_set_error = try find("X509_STORE_CTX_set_error")
            X509_VERIFY_PARAM_set1_ip_asc = try find("X509_VERIFY_PARAM_set1_ip_asc")
            X509_VERIFY_PARAM_set_hostflags = try find("X509_VERIFY_PARAM_set_hostflags")
        }
    }

    /// Stores of authorities that files fill; since OpenSSL 3.
    package final class Authorities: FunctionGroup {
        package typealias SetFlags = @convention(c) (Object?, UInt) -> Int32

        package let SSL_CTX_set1_cert_store: Set
        package let X509_STORE_load_file: SetText
        package let X509_STORE_load_path: SetText
        package let X509_STORE_set_flags: SetFlags
        package let X509_STORE_get0_objects: Get
        package let X509_OBJECT_get0_X509: Get

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            SSL_CTX_set1_cert_store = try find("SSL_CTX_set1_cert_store")
            X509_STORE_load_file = try find("X509_STORE_load_file")
            X509_STORE_load_path = try find("X509_STORE_load_path")
            X509_STORE_set_flags = try find("X509_STORE_set_flags")
            X509_STORE_get0_objects = try find("X509_STORE_get0_objects")
            X509_OBJECT_get0_X509 = try find("X509_OBJECT_get0_X509")
        }
    }
}
