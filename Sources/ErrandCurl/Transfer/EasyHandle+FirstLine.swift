#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // libcurl before 8.1.0 joins a line that starts with white space to the line before it. For the
    // first line after a status line, that is a line of the handle's previous transfer, whose
    // memory is freed (https://github.com/curl/curl/issues/11101). libcurl does so before it calls
    // any callback except the debug function. So the debug function inspects the first line of each
    // head and removes the white space.
    extension EasyHandle {
        /// Enables the debug function for the line after a status line.
        ///
        /// The version in the status line does not matter, because the server chooses it. Over
        /// HTTP/2 libcurl generates the lines itself.
        func watchFirstLine() {
            let isWatched = head.isAtStart && !speaksHTTP2
            guard isWatched != watchesFirstLine else { return }
            watchesFirstLine = isWatched
            applyVerbosity()
        }

        /// Disables the check, which is still enabled if the last transfer ended between the two
        /// lines.
        func forgetFirstLine() {
            beginsFolded = false
            guard watchesFirstLine || watchesGoAway else { return }
            watchesFirstLine = false
            watchesGoAway = false
            applyVerbosity()
        }

        /// Enables verbose output only while the debug function needs it, because it costs time.
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
        Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { easyHandle in
            if type == CURLINFO_TEXT {
                easyHandle.parse(debugText: UnsafeRawBufferPointer(text))
            } else {
                easyHandle.inspect(line: text)
            }
        }
        return 0
    }
#endif
