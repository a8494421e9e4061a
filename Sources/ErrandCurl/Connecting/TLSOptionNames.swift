#if os(Linux)
    import CLibcurl

    /// libcurl's options for a TLS connection, which exist once for the server and once for a
    /// proxy.
    struct TLSOptionNames {
        let authorities: CURLoption
        let authorityFile: CURLoption
        let certificate: CURLoption
        let certificateBytes: CURLoption
        let certificateForm: CURLoption
        let key: CURLoption
        let keyBytes: CURLoption
        let password: CURLoption
        let checksChain: CURLoption
        let checksName: CURLoption
        let version: CURLoption

        static let server = TLSOptionNames(
            authorities: CURLOPT_CAINFO_BLOB, authorityFile: CURLOPT_CAINFO,
            certificate: CURLOPT_SSLCERT, certificateBytes: CURLOPT_SSLCERT_BLOB,
            certificateForm: CURLOPT_SSLCERTTYPE, key: CURLOPT_SSLKEY,
            keyBytes: CURLOPT_SSLKEY_BLOB, password: CURLOPT_KEYPASSWD,
            checksChain: CURLOPT_SSL_VERIFYPEER, checksName: CURLOPT_SSL_VERIFYHOST,
            version: CURLOPT_SSLVERSION)

        static let proxy = TLSOptionNames(
            authorities: CURLOPT_PROXY_CAINFO_BLOB, authorityFile: CURLOPT_PROXY_CAINFO,
            certificate: CURLOPT_PROXY_SSLCERT, certificateBytes: CURLOPT_PROXY_SSLCERT_BLOB,
            certificateForm: CURLOPT_PROXY_SSLCERTTYPE, key: CURLOPT_PROXY_SSLKEY,
            keyBytes: CURLOPT_PROXY_SSLKEY_BLOB, password: CURLOPT_PROXY_KEYPASSWD,
            checksChain: CURLOPT_PROXY_SSL_VERIFYPEER, checksName: CURLOPT_PROXY_SSL_VERIFYHOST,
            version: CURLOPT_PROXY_SSLVERSION)
    }
#endif
