// Performance annotations: decision 17.

#if os(Linux)
    import ErrandTransport
    import Glibc

    extension HTTP1Transfer {
        /// The receiver, if it takes the connection over after 101.
        var connectionOwner: (any ConnectionOwner)? {
            guard transfer.request.headers.contains(.upgrade) else { return nil }
            let owner = receiver as? any ConnectionOwner
            return owner?.acceptsConnection == true ? owner : nil
        }

        /// Hands the connection over; the rest of the input follows by ``deliverSwitched(_:)``.
        func switchProtocols(_ head: HeadParser.Head) {
            guard let connection, let owner = connectionOwner,
                connection.state.switchedProtocols()
            else { return fail(CurlFailure.badResponse(.switchesProtocols)) }
            deadlines = Deadlines()
            if connection.buffersInput { connection.observeEnd() }
            var options = transfer.request.options
            options.maximumBodyBytes = nil
            body.reset(options)
            upload?.close()
            upload = Upload(owner.didSwitchProtocols(responseHead(head, hasBody: false)))
            // The source decides about the end.
            writer = RequestBodyWriter(.bytes(.max))
            isSourceEmpty = false
            pump()
        }

        /// Delivers input of the other protocol.
        func deliverSwitched(_ input: inout UnsafeRawBufferPointer) {
            guard !input.isEmpty else { return }
            let bytes = input
            input = UnsafeRawBufferPointer(rebasing: bytes[bytes.count...])
            deliver(bytes)
        }

        /// The server has ended its direction.
        func switchedInputEnded() {
            guard let connection else { return }
            if connection.lacksCloseNotify { return fail(CurlFailure.missingCloseNotify) }
            // The end of the input would be reported again and again.
            connection.readsInput = false
            connection.updateEvents()
            connectionOwner?.didReceiveEnd()
            perform(connection.state.inputEnded())
        }
    }
#endif
