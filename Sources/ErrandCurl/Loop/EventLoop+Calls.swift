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

        /// A new socket; -1, and `errno` says why, where there is none.
        func open(_ address: UnsafePointer<curl_sockaddr>, as use: SocketTable.Use) -> Int32 {
            let socket = errand_socket(address)
            guard socket >= 0 else { return socket }
            sockets.opened(socket, as: use)
            if use == .shared { watch.opened(socket) }
            return socket
        }

        func close(_ socket: Int32) -> Int32 {
            sockets.closed(socket)
            watch.closed(socket)
            return Glibc.close(socket)
        }
    }
#endif
