// swift-format-ignore-file: AlwaysUseLowerCamelCase

extension OpenSSL {
    /// An `SSL_CTX`: what the connections that are made from it share.
    package final class Contexts: FunctionGroup {
        package typealias SetOptions = @convention(c) (Object?, UInt64) -> UInt64
        package typealias SetNames =
            @convention(c) (Object?, UnsafePointer<UInt8>?, UInt32) -> Int32
        package typealias SetVerify = @convention(c) (Object?, Int32, Object?) -> Void
        package typealias VerifyCallback = @convention(c) (Object?, Object?) -> Int32
        package typealias SetVerifyCallback =
            @convention(c) (Object?, VerifyCallback?, Object?) -> Void
        package typealias InformationCallback =
            @convention(c) (UnsafeRawPointer?, Int32, Int32) -> Void
        package typealias SetInformationCallback =
            @convention(c) (Object?, InformationCallback?) -> Void
        package typealias PassphraseCallback =
            @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, Object?) -> Int32
        package typealias SetPassphraseCallback =
            @convention(c) (Object?, PassphraseCallback?) -> Void
        package typealias SetFile =
            @convention(c) (Object?, UnsafePointer<CChar>, Int32) -> Int32
        package typealias SetLocations =
            @convention(c) (
                Object?, UnsafePointer<CChar>, UnsafePointer<CChar>?
            ) -> Int32
        package typealias GetData = @convention(c) (UnsafeRawPointer?, Int32) -> Object?
        package typealias SetData = @convention(c) (Object?, Int32, Object?) -> Int32

        package let TLS_client_method: Make
        package let SSL_CTX_new: Get
        package let SSL_CTX_free: Free
        package let SSL_CTX_ctrl: Control
        package let SSL_CTX_set_options: SetOptions
        package let SSL_CTX_set_alpn_protos: SetNames
        // The peer's certificate.
        package let SSL_CTX_set_verify: SetVerify
        package let SSL_CTX_set_cert_verify_callback: SetVerifyCallback
        package let SSL_CTX_set_default_verify_paths: Act
        package let SSL_CTX_load_verify_locations: SetLocations
        package let SSL_CTX_get_cert_store: Get
        // The client's certificate.
        package let SSL_CTX_use_certificate_chain_file: SetText
        package let SSL_CTX_use_PrivateKey_file: SetFile
        package let SSL_CTX_check_private_key: Test
        package let SSL_CTX_set_default_passwd_cb: SetPassphraseCallback
        // Observers.
        package let SSL_CTX_get_ex_data: GetData
        package let SSL_CTX_set_ex_data: SetData
        package let SSL_CTX_set_info_callback: SetInformationCallback

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            TLS_client_method = try find("TLS_client_method")
            SSL_CTX_new = try find("SSL_CTX_new")
            SSL_CTX_free = try find("SSL_CTX_free")
            SSL_CTX_ctrl = try find("SSL_CTX_ctrl")
            SSL_CTX_set_options = try find("SSL_CTX_set_options")
            SSL_CTX_set_alpn_protos = try find("SSL_CTX_set_alpn_protos")
            SSL_CTX_set_verify = try find("SSL_CTX_set_verify")
            SSL_CTX_set_cert_verify_callback = try find("SSL_CTX_set_cert_verify_callback")
            SSL_CTX_set_default_verify_paths = try find("SSL_CTX_set_default_verify_paths")
            SSL_CTX_load_verify_locations = try find("SSL_CTX_load_verify_locations")
            SSL_CTX_get_cert_store = try find("SSL_CTX_get_cert_store")
            SSL_CTX_use_certificate_chain_file = try find("SSL_CTX_use_certificate_chain_file")
            SSL_CTX_use_PrivateKey_file = try find("SSL_CTX_use_PrivateKey_file")
            SSL_CTX_check_private_key = try find("SSL_CTX_check_private_key")
            SSL_CTX_set_default_passwd_cb = try find("SSL_CTX_set_default_passwd_cb")
            SSL_CTX_get_ex_data = try find("SSL_CTX_get_ex_data")
            SSL_CTX_set_ex_data = try find("SSL_CTX_set_ex_data")
            SSL_CTX_set_info_callback = try find("SSL_CTX_set_info_callback")
        }
    }

    /// An `SSL`: one connection.
    ///
    /// The functions that read or write are in ``Transfers``.
    package final class Connections: FunctionGroup {
        package typealias GetName =
            @convention(c) (
                UnsafeRawPointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>,
                UnsafeMutablePointer<UInt32>
            ) -> Void
        package typealias SetStreams = @convention(c) (Object?, Object?, Object?) -> Void
        package typealias Explain = @convention(c) (UnsafeRawPointer?, Int32) -> Int32

        package let SSL_new: Get
        package let SSL_free: Free
        package let SSL_ctrl: Control
        package let SSL_set_options: Contexts.SetOptions
        package let SSL_get_SSL_CTX: Get
        package let SSL_get0_param: Get
        package let SSL_set1_host: SetText
        package let SSL_get0_alpn_selected: GetName
        // The peer's certificates.
        package let SSL_get_verify_result: Size
        package let SSL_get0_verified_chain: Get
        package let SSL_get_peer_cert_chain: Get
        package let SSL_get1_peer_certificate: Get
        // State.
        package let SSL_get_error: Explain
        package let SSL_want: Test
        package let SSL_has_pending: Test
        package let SSL_get_shutdown: Test
        // Streams.
        package let SSL_get_rbio: Get
        package let SSL_set0_wbio: Set
        package let SSL_set_bio: SetStreams

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            SSL_new = try find("SSL_new")
            SSL_free = try find("SSL_free")
            SSL_ctrl = try find("SSL_ctrl")
            SSL_set_options = try find("SSL_set_options")
            SSL_get_SSL_CTX = try find("SSL_get_SSL_CTX")
            SSL_get0_param = try find("SSL_get0_param")
            SSL_set1_host = try find("SSL_set1_host")
            SSL_get0_alpn_selected = try find("SSL_get0_alpn_selected")
            SSL_get_verify_result = try find("SSL_get_verify_result")
            SSL_get0_verified_chain = try find("SSL_get0_verified_chain")
            SSL_get_peer_cert_chain = try find("SSL_get_peer_cert_chain")
            SSL_get1_peer_certificate = try find(
                "SSL_get1_peer_certificate", former: "SSL_get_peer_certificate")
            SSL_get_error = try find("SSL_get_error")
            SSL_want = try find("SSL_want")
            SSL_has_pending = try find("SSL_has_pending")
            SSL_get_shutdown = try find("SSL_get_shutdown")
            SSL_get_rbio = try find("SSL_get_rbio")
            SSL_set0_wbio = try find("SSL_set0_wbio")
            SSL_set_bio = try find("SSL_set_bio")
        }
    }
}
