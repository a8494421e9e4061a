#if os(Linux)
    import CLibcurl
    import ErrandCore

    // NB: libcurl before 8.1.0 joins a line that begins with white space to the one before, and for the first line
    // behind a status line that is one of the handle's last transfer, whose memory it has given back:
    // https://github.com/curl/curl/issues/11101. It does so before it calls anybody but its debug function, which
    // therefore sees the first line of each head, and none else, and takes the white space away.
    extension Exchange {
        /// A line is about to be read; the one behind a status line is looked at first.
        ///
        /// Whatever version the status line names: it is the server's word. Over HTTP/2 libcurl makes the lines itself.
        func watchFirstLine() {
            let isWatched = head.isAtStart && !speaksHTTP2
            guard isWatched != watchesFirstLine else { return }
            watchesFirstLine = isWatched
            applyVerbosity()
        }

        /// A transfer that was given up between the two lines has left the watch behind.
        func forgetFirstLine() {
            beginsFolded = false
            guard watchesFirstLine || watchesGoAway else { return }
            watchesFirstLine = false
            watchesGoAway = false
            applyVerbosity()
        }

        /// Only what is looked at costs anything.
        func applyVerbosity() {
            errand_set_long(handle, CURLOPT_VERBOSE, watchesFirstLine || watchesGoAway ? 1 : 0)
        }

        fileprivate func inspect(line: UnsafeMutableRawBufferPointer) {
            guard watchesFirstLine, line.count > 0, line[0] == 0x20 || line[0] == 0x09 else {
                return
            }
            line[0] = UInt8(ascii: "_")
            beginsFolded = true
        }
    }

    let onDebug: errand_debug_callback = { _, type, bytes, count, context in
        guard type == CURLINFO_HEADER_IN || type == CURLINFO_TEXT, let context else { return 0 }
        let text = UnsafeMutableRawBufferPointer(start: bytes, count: count)
        Unmanaged<Exchange>.fromOpaque(context)._withUnsafeGuaranteedRef { exchange in
            if type == CURLINFO_TEXT {
                exchange.hear(UnsafeRawBufferPointer(text))
            } else {
                exchange.inspect(line: text)
            }
        }
        return 0
    }
#endif
