// swift-format-ignore-file: AlwaysUseLowerCamelCase

extension OpenSSL {
    /// The digests of `openssl/evp.h`, in libcrypto.
    package final class Digests: FunctionGroup {
        package typealias Begin =
            @convention(c) (Object?, UnsafeRawPointer?, UnsafeRawPointer?) -> Int32
        package typealias Update =
            @convention(c) (Object?, UnsafeRawPointer?, Int) -> Int32
        package typealias End =
            @convention(c) (
                Object?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?
            ) -> Int32

        package let EVP_MD_CTX_new: Make
        package let EVP_MD_CTX_free: Free
        package let EVP_DigestInit_ex: Begin
        package let EVP_DigestUpdate: Update
        package let EVP_DigestFinal_ex: End
        package let EVP_sha256: Make
        package let EVP_sha512: Make
        package let EVP_sha1: Make
        /// `nil` in a build without MD5.
        package let EVP_md5: Make?

        package init(_ find: FunctionFinder) throws(MissingFunction) {
            EVP_MD_CTX_new = try find("EVP_MD_CTX_new")
            EVP_MD_CTX_free = try find("EVP_MD_CTX_free")
            EVP_DigestInit_ex = try find("EVP_DigestInit_ex")
            EVP_DigestUpdate = try find("EVP_DigestUpdate")
            EVP_DigestFinal_ex = try find("EVP_DigestFinal_ex")
            EVP_sha256 = try find("EVP_sha256")
            EVP_sha512 = try find("EVP_sha512")
            EVP_sha1 = try find("EVP_sha1")
            EVP_md5 = try? find("EVP_md5")
        }
    }
}
