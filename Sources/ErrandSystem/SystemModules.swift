// What every module imports, under one name: `import ErrandSystem` shows these declarations (decision 77).
//
// - Data, dates, URLs, files and JSON. FoundationEssentials has them without ICU; Apple's SDKs have no such module.
// - Dispatch.
// - The C library of the platform. No other file names it.
@_exported public import Dispatch

#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif
#if canImport(Darwin)
    @_exported public import Darwin
#elseif canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Android)
    @_exported public import Android
#endif
