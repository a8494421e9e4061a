#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import HTTPTypes

    // Trailers after the request body, which libcurl sends in the chunked coding only: over HTTP/2 it
    // ends the stream without them.
    //
    // libcurl 7.88 keeps the state of sent trailers in its handle. The next chunked body of the handle,
    // also of the same request if libcurl repeats it, would be sent without trailers, and libcurl would
    // write before the start of its buffer. So a handle sends trailers only once.
    extension EasyHandle {
        /// Lets libcurl ask for trailers if there are any.
        func applyTrailers(of request: TransportRequest) throws(RequestError) {
            try request.checkTrailerVersion()
            let names = request.body?.trailerNames ?? []
            guard sendsTrailers == names.isEmpty else { return }
            sendsTrailers = !names.isEmpty
            hasBegunTrailers = false
            if sendsTrailers { needsReplacement = true }
            try expect(errand_set_trailer_callback(handle, sendsTrailers ? onTrailers : nil))
        }

        /// Leaves a repetition by libcurl to ``replays(after:)``, which uses a new handle.
        func preventRepetitionOfTrailers() -> Bool {
            guard hasBegunTrailers, sendCount > 0 else { return false }
            if hasReplayed {
                _ = abort(with: CurlFailure.lostBeforeResponse)
            } else {
                needsOtherConnection = true
            }
            return true
        }

        /// Replaces the handle before a replay if it has begun to send trailers; returns false if the
        /// options of the request cannot be set.
        func renewAfterTrailers() -> Bool {
            guard hasBegunTrailers, let request = transfer?.request else { return true }
            renewHandle()
            do throws(RequestError) {
                try apply(request)
                return true
            } catch {
                failure = error
                return false
            }
        }

        /// The trailers as a list that libcurl frees; `nil` if there is no memory for it.
        fileprivate func trailerList() -> Result<UnsafeMutablePointer<curl_slist>?, NoMemory> {
            var list: UnsafeMutablePointer<curl_slist>?
            for field in upload?.trailers ?? [:] {
                let line = "\(field.name.rawName): \(field.value)"
                guard let longer = curl_slist_append(list, line) else {
                    curl_slist_free_all(list)
                    return .failure(NoMemory())
                }
                list = longer
            }
            return .success(list)
        }
    }

    extension TransportRequest {
        /// Throws if the request has trailers and must not use HTTP/1.1.
        func checkTrailerVersion() throws(RequestError) {
            switch options.httpVersion {
            case .automatic, .http11: return
            case .http2, .http2PriorKnowledge:
                guard body?.trailerSource != nil else { return }
                throw RequestError(
                    .unsupported, stage: .transport,
                    "libcurl cannot send trailers over HTTP/2. Set httpVersion to automatic or "
                        + "http11, or remove the trailers.")
            }
        }

        /// The request, restricted to HTTP/1.1 if it has trailers and the version is not set.
        func sendingTrailersOverHTTP11() -> TransportRequest {
            guard isSecure, body?.trailerSource != nil, options.httpVersion == .automatic else {
                return self
            }
            var request = self
            request.options.httpVersion = .http11
            return request
        }
    }

    private struct NoMemory: Error {}

    private let onTrailers: errand_trailer_callback = { list, context in
        guard let list, let context else { return CURL_TRAILERFUNC_ABORT }
        let result = Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.trailerList()
        }
        guard case .success(let trailers) = result else { return CURL_TRAILERFUNC_ABORT }
        list.pointee = trailers
        return CURL_TRAILERFUNC_OK
    }
#endif
