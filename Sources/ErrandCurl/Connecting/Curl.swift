// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    import CLibcurl
    import ErrandHTTP
    import ErrandSystem

    /// The functions of libcurl, which have their names in C.
    ///
    /// libcurl is opened when the first request needs it: with the libraries that it needs itself, about thirty, this takes
    /// as long as starting the rest of a program several times (decision 77).
    final class Curl: Sendable {
        typealias Handle = UnsafeMutableRawPointer

        /// The libcurl of the process; `nil` if it is not installed, or lacks a function.
        static let loaded: Curl? =
            ["libcurl.so.4", "libcurl-gnutls.so.4"].lazy.compactMap { SharedLibrary($0) }
            .first.flatMap { Curl($0) }

        typealias Make = @convention(c) () -> Handle?
        typealias Free = @convention(c) (Handle?) -> Void
        typealias Initialize = @convention(c) (Int) -> CURLcode
        typealias VersionInfo =
            @convention(c) (CURLversion) -> UnsafeMutablePointer<curl_version_info_data>?
        typealias Text = @convention(c) (CURLcode) -> UnsafePointer<CChar>?
        typealias Send =
            @convention(c) (Handle?, UnsafeRawPointer?, Int, UnsafeMutablePointer<Int>?) -> CURLcode
        typealias Receive =
            @convention(c) (Handle?, UnsafeMutableRawPointer?, Int, UnsafeMutablePointer<Int>?) ->
            CURLcode
        typealias Join = @convention(c) (Handle?, Handle?) -> CURLMcode
        typealias Close = @convention(c) (Handle?) -> CURLMcode
        typealias NextMessage =
            @convention(c) (Handle?, UnsafeMutablePointer<Int32>?) -> UnsafeMutablePointer<CURLMsg>?
        typealias Act =
            @convention(c) (Handle?, curl_socket_t, Int32, UnsafeMutablePointer<Int32>?) ->
            CURLMcode
        typealias ActOnAll =
            @convention(c) (Handle?, UnsafeMutablePointer<Int32>?) -> CURLMcode
        typealias FreeShare = @convention(c) (Handle?) -> CURLSHcode

        let curl_global_init: Initialize
        private let curl_version_info: VersionInfo
        let curl_easy_init: Make
        let curl_easy_cleanup: Free
        let curl_easy_strerror: Text
        let curl_easy_send: Send
        let curl_easy_recv: Receive
        let curl_multi_init: Make
        let curl_multi_cleanup: Close
        let curl_multi_add_handle: Join
        let curl_multi_remove_handle: Join
        let curl_multi_info_read: NextMessage
        let curl_multi_socket_action: Act
        let curl_multi_socket_all: ActOnAll
        let curl_share_init: Make
        let curl_share_cleanup: FreeShare
        // Variadic functions, which C calls.
        private let easySetopt: errand_variadic
        private let easyGetinfo: errand_variadic
        private let multiSetopt: errand_variadic
        private let shareSetopt: errand_variadic

        private init?(_ library: SharedLibrary) {
            guard let global_init: Initialize = library.function("curl_global_init"),
                let version_info: VersionInfo = library.function("curl_version_info"),
                let easy_init: Make = library.function("curl_easy_init"),
                let easy_cleanup: Free = library.function("curl_easy_cleanup"),
                let easy_strerror: Text = library.function("curl_easy_strerror"),
                let easy_send: Send = library.function("curl_easy_send"),
                let easy_recv: Receive = library.function("curl_easy_recv"),
                let multi_init: Make = library.function("curl_multi_init"),
                let multi_cleanup: Close = library.function("curl_multi_cleanup"),
                let multi_add_handle: Join = library.function("curl_multi_add_handle"),
                let multi_remove_handle: Join = library.function("curl_multi_remove_handle"),
                let multi_info_read: NextMessage = library.function("curl_multi_info_read"),
                let multi_socket_action: Act = library.function("curl_multi_socket_action"),
                let multi_socket_all: ActOnAll = library.function("curl_multi_socket_all"),
                let share_init: Make = library.function("curl_share_init"),
                let share_cleanup: FreeShare = library.function("curl_share_cleanup"),
                let easy_setopt: errand_variadic = library.function("curl_easy_setopt"),
                let easy_getinfo: errand_variadic = library.function("curl_easy_getinfo"),
                let multi_setopt: errand_variadic = library.function("curl_multi_setopt"),
                let share_setopt: errand_variadic = library.function("curl_share_setopt")
            else { return nil }
            curl_global_init = global_init
            curl_version_info = version_info
            curl_easy_init = easy_init
            curl_easy_cleanup = easy_cleanup
            curl_easy_strerror = easy_strerror
            curl_easy_send = easy_send
            curl_easy_recv = easy_recv
            curl_multi_init = multi_init
            curl_multi_cleanup = multi_cleanup
            curl_multi_add_handle = multi_add_handle
            curl_multi_remove_handle = multi_remove_handle
            curl_multi_info_read = multi_info_read
            curl_multi_socket_action = multi_socket_action
            curl_multi_socket_all = multi_socket_all
            curl_share_init = share_init
            curl_share_cleanup = share_cleanup
            easySetopt = easy_setopt
            easyGetinfo = easy_getinfo
            multiSetopt = multi_setopt
            shareSetopt = share_setopt
        }

        // MARK: - Options

        func set(_ handle: Handle, _ option: CURLoption, _ value: Int) -> CURLcode {
            errand_set_long(easySetopt, handle, option, value)
        }

        func set(_ handle: Handle, _ option: CURLoption, _ value: String) -> CURLcode {
            value.withCString { errand_set_pointer(easySetopt, handle, option, $0) }
        }

        func set(_ handle: Handle, _ option: CURLoption, _ value: UnsafeRawPointer?) -> CURLcode {
            errand_set_pointer(easySetopt, handle, option, value)
        }

        /// Copies the bytes.
        func set(_ handle: Handle, _ option: CURLoption, _ value: Data) -> CURLcode {
            value.withUnsafeBytes {
                errand_set_blob(easySetopt, handle, option, $0.baseAddress, $0.count)
            }
        }

        func setCallback(_ handle: Handle, _ callback: errand_open_callback) -> CURLcode {
            errand_set_open_callback(easySetopt, handle, callback)
        }

        func setCallback(_ handle: Handle, _ callback: errand_close_callback) -> CURLcode {
            errand_set_close_callback(easySetopt, handle, callback)
        }

        func setCallback(_ handle: Handle, _ callback: errand_tls_context_callback) -> CURLcode {
            errand_set_tls_context_callback(easySetopt, handle, callback)
        }

        func setMulti(_ multi: Handle, _ option: CURLMoption, _ value: Int) {
            _ = errand_multi_set_long(multiSetopt, multi, option, value)
        }

        func setMultiCallbacks(
            _ multi: Handle, _ socket: errand_socket_callback, _ timer: errand_timer_callback,
            _ context: UnsafeMutableRawPointer
        ) {
            _ = errand_multi_set_callbacks(multiSetopt, multi, socket, timer, context)
        }

        // MARK: - Facts

        var information: curl_version_info_data? {
            curl_version_info(errand_version_of_headers())?.pointee
        }

        /// 0 if there is none.
        func number(_ handle: Handle, _ info: CURLINFO) -> Int {
            var value = 0
            errand_get_long(easyGetinfo, handle, info, &value)
            return value
        }

        /// 0 if there is none.
        func offset(_ handle: Handle, _ info: CURLINFO) -> curl_off_t {
            var value: curl_off_t = 0
            errand_get_offset(easyGetinfo, handle, info, &value)
            return value
        }

        /// The text, which belongs to the handle.
        func text(_ handle: Handle, _ info: CURLINFO) -> UnsafeMutablePointer<CChar>? {
            var value: UnsafeMutablePointer<CChar>?
            errand_get_string(easyGetinfo, handle, info, &value)
            return value
        }

        /// The socket of the handle's connection; -1 if it has none.
        func socket(_ handle: Handle) -> curl_socket_t {
            var socket: curl_socket_t = -1
            errand_get_socket(easyGetinfo, handle, &socket)
            return socket
        }

        /// OpenSSL's object of the handle's connection; `nil` without one, and with another TLS library.
        func tls(_ handle: Handle) -> UnsafeMutableRawPointer? {
            errand_get_tls(easyGetinfo, handle)
        }

        // MARK: - Shares

        /// A share object for TLS sessions alone, used by one thread; `nil` when there is no memory for it.
        func shareOfSessions() -> Handle? {
            guard let share = curl_share_init() else { return nil }
            if errand_share_sessions(shareSetopt, share) { return share }
            _ = curl_share_cleanup(share)
            return nil
        }
    }
#endif
