// Performance annotations: decision 17.

#if os(Linux)
    package import ErrandTransport
    import Glibc

    /// A receiver that takes over the connection after 101 (Switching Protocols), RFC 9110 §7.8.
    ///
    /// A request with the header `Upgrade` whose receiver conforms to this protocol accepts 101 with a
    /// header `Upgrade` as its response. From then on its transfer carries the bytes of the other protocol:
    ///
    /// - Input arrives by ``TransferReceiver/didReceive(bytes:)``, beginning with the bytes after the
    ///   head. ``Demand/pause`` and ``Transfer/resumeReceiving()`` apply; limits of the body's size, its
    ///   codings and ``Timeouts/idle`` do not.
    /// - Output comes from the source that ``didSwitchProtocols(_:)`` returns. It is read when the
    ///   socket accepts more bytes. Its end ends the client's direction, its failure the transfer.
    /// - ``Transfer/cancel()`` closes the connection at once.
    /// - ``TransferReceiver/didEnd(_:)`` has no error if both sides have ended their directions.
    ///
    /// Only the HTTP/1.1 engine hands connections over. If libcurl carries the request, and for every
    /// other receiver, 101 fails with ``RequestError/Code/badServerResponse``.
    package protocol ConnectionOwner: TransferReceiver {
        /// Called with the head of the 101 response, instead of ``TransferReceiver/didReceive(head:)``;
        /// returns the bytes to send.
        func didSwitchProtocols(_ head: ResponseHead) -> any BodySource

        /// Called when the server has ended its direction; the client may continue to send.
        func didReceiveEnd()
    }

    extension HTTP1Transfer {
        /// The receiver, if it takes the connection over after 101.
        var connectionOwner: (any ConnectionOwner)? {
            guard transfer.request.headers.contains(.upgrade) else { return nil }
            return receiver as? any ConnectionOwner
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
