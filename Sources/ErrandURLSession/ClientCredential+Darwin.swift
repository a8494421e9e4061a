#if canImport(Security)
    import ErrandTransport
    import Foundation
    import Security

    /// Makes credentials of client certificates.
    enum ClientCredential {
        /// The credential of an identity in PKCS#12, with its chain.
        ///
        /// On macOS the identity stays in memory: it is not added to a keychain.
        static func make(_ identity: ClientIdentity) throws(RequestError) -> URLCredential {
            let contents: Data
            switch identity.certificate {
            case .bytes(let data): contents = data
            case .file(let path):
                guard let data = try? FileAccess.contents(of: URL(fileURLWithPath: path)) else {
                    throw SecurityPolicy.unreadableFile(path)
                }
                contents = data
            }
            var options: [String: Any] = [
                kSecImportExportPassphrase as String: identity.password ?? ""
            ]
            #if os(macOS)
                options[kSecImportToMemoryOnly as String] = true
            #endif
            var items: CFArray?
            let status = SecPKCS12Import(contents as CFData, options as CFDictionary, &items)
            guard status == errSecSuccess else {
                let text = SecCopyErrorMessageString(status, nil).map { $0 as String }
                throw PKCS12Failure(status: status).error(text)
            }
            // An array, because the compiler accepts no conditional cast of one CoreFoundation type.
            guard let item = (items as? [[String: Any]])?.first,
                let identity = ([item[kSecImportItemIdentity as String]] as? [SecIdentity])?.first
            else { throw PKCS12Failure.noIdentity.error(nil) }
            let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
            return URLCredential(
                identity: identity, certificates: Array(chain.dropFirst()),
                persistence: .none)
        }
    }
#endif
