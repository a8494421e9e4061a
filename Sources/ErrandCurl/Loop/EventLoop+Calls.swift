#if os(Linux)
    import CLibcurl
    import Glibc

    // What the loop calls of libcurl, and is asked by it about sockets.
    extension EventLoop {
        /// Lets libcurl serve a socket that has something, or its own timer.
        func call(_ socket: Int32, _ action: Int32 = 0) {
            var running: Int32 = 0
            readsInCall = 0
            callNumber &+= 1
            watch.begin()
            curl_multi_socket_action(multi, socket, action, &running)
            watch.end()
        }

        func open(_ address: UnsafePointer<curl_sockaddr>, as use: SocketTable.Use) -> Int32 {
            let socket = errand_socket(address)
            sockets.opened(socket, as: use)
            if use == .shared, socket >= 0 { watch.opened(socket) }
            return socket
        }

        func close(_ socket: Int32) -> Int32 {
            sockets.closed(socket)
            watch.closed(socket)
            return Glibc.close(socket)
        }
    }
#endif
