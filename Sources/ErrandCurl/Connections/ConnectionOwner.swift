// Performance annotations: decision 17.

#if os(Linux)
    import ErrandSystem
    import ErrandTransport

    extension Exchange {
        /// The receiver, if it takes the connection over.
        var connectionOwner: (any ConnectionOwner)? {
            guard transfer.request.headers.contains(.upgrade) else { return nil }
            let owner = receiver as? any ConnectionOwner
            return owner?.acceptsConnection == true ? owner : nil
        }

        /// Gives the connection to the receiver, whose source replaces the body.
        func handOver(to owner: any ConnectionOwner, _ head: HeadParser.Head) {
            deadlines = Deadlines()
            var options = transfer.request.options
            options.maximumBodyBytes = nil
            body.reset(options)
            upload?.close()
            upload = Upload(owner.didSwitchProtocols(responseHead(head, hasBody: false)))
            isSourceEmpty = false
            isHandedOver = true
        }

        /// Closes the source of a connection that was handed over, because nothing more is sent: it may have paused the
        /// input, and the end of the connection waits behind that.
        func loseOutput() {
            if isHandedOver { upload?.close() }
        }
    }
#endif
