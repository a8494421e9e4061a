#if os(Linux)
    import CLibcurl

    /// The memory that the options of an easy handle refer to; it outlives the handle's transfers.
    final class OptionMemory {
        let headers = HeaderList()
        let url = TextBuffer(capacity: 256)
        let lists = ConnectOptions.Lists()
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

        init() { errorText[0] = 0 }

        deinit { errorText.deallocate() }
    }
#endif
