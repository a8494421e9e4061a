// swift-tools-version: 6.2
import Foundation
import PackageDescription

// CI sets this variable to treat warnings in Errand's own code as errors.
let isStrict = ProcessInfo.processInfo.environment["ERRAND_WARNINGS_AS_ERRORS"] != nil

// The packages in Fuzzing and Tests/Autobahn use modules that are no products; their scripts set this variable.
let hasAllProducts = ProcessInfo.processInfo.environment["ERRAND_ALL_PRODUCTS"] != nil

let strict: [SwiftSetting] = isStrict ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ] + strict

// Without its trait, a package is not resolved.
func optional(_ name: String, of package: String, trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}
let system = "ErrandSystem"
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = optional("Logging", of: "swift-log", trait: "Logging")
let metrics = optional("Metrics", of: "swift-metrics", trait: "Metrics")
let tracing = optional("Tracing", of: "swift-distributed-tracing", trait: "Tracing")
let lifecycle = optional(
    "ServiceLifecycle", of: "swift-service-lifecycle", trait: "ServiceLifecycle")
let configuration = optional(
    "Configuration", of: "swift-configuration", trait: "Configuration")
let libcurl = Target.Dependency.target(
    name: "CLibcurl", condition: .when(platforms: [.linux]))
// Without the trait, nothing of `import Errand` links FoundationNetworking, which is a library of its own on Linux only.
#if os(Linux)
    let urlSession = Target.Dependency.target(
        name: "ErrandURLSession", condition: .when(traits: ["URLSession"]))
#else
    let urlSession = Target.Dependency.target(name: "ErrandURLSession")
#endif
// Without the trait, libhiredis is not needed.
let hiredis = Target.Dependency.target(
    name: "CHiredis", condition: .when(traits: ["Redis"]))

// SwiftPM asks pkg-config without the trait too, and warns about a missing package, and about a
// definition in Debian's. There, header and library are found without it.
#if os(Linux)
    let hiredisPackage: String? = nil
#else
    let hiredisPackage: String? = "hiredis"
#endif

let package = Package(
    name: "errand",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    traits: [
        // One trait, because the package manager (6.3) passes several in the order of a Set, and compiles everything again
        // when it differs.
        .default(enabledTraits: ["URLSession"]),
        .trait(
            name: "URLSession",
            description:
                "Adds what Foundation adds, and ErrandURLSession to `import Errand`: URLSessionTransport and the "
                + "bridges to Foundation's networking types. On by default; without it, programs on Linux do not link "
                + "FoundationNetworking."
        ),
        .trait(
            name: "Foundation",
            description:
                "Adds what needs the full Foundation: NSError, URLError, Progress, the objects of JSONSerialization, "
                + "hosts beyond ASCII, old charsets of forms. Without it and URLSession, programs on Linux link "
                + "FoundationEssentials only, without ICU."
        ),
        .trait(
            name: "Logging",
            description: "Builds LoggingListener. Only then is swift-log resolved."),
        .trait(
            name: "Metrics",
            description: "Builds MetricsListener. Only then is swift-metrics resolved."),
        .trait(
            name: "Tracing",
            description: "Builds TracingListener. Only then is swift-distributed-tracing resolved."),
        .trait(
            name: "Observability", description: "Enables Logging, Metrics and Tracing.",
            enabledTraits: ["Logging", "Metrics", "Tracing"]),
        .trait(
            name: "ServiceLifecycle",
            description:
                "Builds ErrandServiceLifecycle. Only then is swift-service-lifecycle resolved."),
        .trait(
            name: "Configuration",
            description: "Builds ErrandConfiguration. Only then is swift-configuration resolved."),
        .trait(
            name: "Inspector",
            description: "Builds the inspector's server."),
        .trait(
            name: "Redis", description: "Builds ErrandRedis. Only then is libhiredis needed."),
    ],
    dependencies: [
        // Without its trait FoundationURL, it imports no Foundation.
        .package(
            url: "https://github.com/apple/swift-http-types.git", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
        .package(
            url: "https://github.com/apple/swift-configuration.git", from: "1.0.0", traits: []),
    ],
    targets: [
        // Its header only: the library is opened when the first request needs it (decision 77), so pkg-config is not
        // asked, which would link it.
        .systemLibrary(
            name: "CLibcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .systemLibrary(
            name: "CHiredis", pkgConfig: hiredisPackage,
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]
        ),
    ],
    swiftLanguageModes: [.v6]
)

/// Adds a target and, if users import it, its product.
///
/// Scripts/check-boundaries checks what its files may import. Every target uses ErrandSystem.
@MainActor func library(
    _ name: String, _ uses: [Target.Dependency], exclude: [String] = [], isProduct: Bool = true
) {
    if isProduct || hasAllProducts {
        package.products.append(.library(name: name, targets: [name]))
    }
    package.targets.append(
        .target(
            name: name, dependencies: uses + (name == system ? [] : [.target(name: system)]),
            exclude: exclude, swiftSettings: settings))
}

/// Adds a test target.
@MainActor func tests(_ name: String, _ uses: [Target.Dependency]) {
    package.targets.append(
        .testTarget(name: name, dependencies: uses + ["TestSupport"], swiftSettings: settings))
}

/// Adds client code with the public API only: it must compile without warnings in each language mode.
@MainActor func client(_ mode: String, _ settings: [SwiftSetting]) {
    package.targets.append(
        .target(
            name: "Client\(mode)", dependencies: ["Errand"], path: "Tests/Clients/\(mode)",
            packageAccess: false, swiftSettings: settings + strict))
}

library("ErrandSystem", [], isProduct: false)
library("ErrandJSON", [])
library("ErrandHTTP", ["ErrandJSON", httpTypes])
library("ErrandOpenSSL", ["ErrandHTTP"], isProduct: false)
library("ErrandTransport", ["ErrandHTTP", httpTypes])
library("ErrandWebSocket", ["ErrandHTTP", httpTypes], isProduct: false)
library(
    "ErrandCore", ["ErrandTransport", "ErrandHTTP", "ErrandJSON", "ErrandOpenSSL", httpTypes])
library(
    "ErrandCurl",
    ["ErrandTransport", "ErrandHTTP", "ErrandOpenSSL", libcurl, httpTypes])
library(
    "ErrandURLSession",
    [
        "ErrandCore", "ErrandTransport", "ErrandHTTP", "ErrandOpenSSL", httpTypes,
    ])
library("ErrandSQLite", ["ErrandCore", "CSQLite", httpTypes])
library("ErrandOutbox", ["ErrandCore", "ErrandSQLite", httpTypes])
library(
    "ErrandRedis",
    ["ErrandCore", "ErrandHTTP", "ErrandOpenSSL", hiredis, httpTypes])
library("ErrandReachability", ["ErrandCore"])
library(
    "Errand",
    [
        "ErrandCore", "ErrandTransport", "ErrandWebSocket", urlSession, "ErrandCurl",
        "ErrandSQLite",
        httpTypes,
    ])
library("ErrandWorkflows", ["Errand", "ErrandCore", "ErrandSQLite"])
library("ErrandUploads", ["Errand", "ErrandCore", "ErrandHTTP", "ErrandTransport", httpTypes])
library(
    "ErrandDownloadQueue",
    ["ErrandCore", "ErrandHTTP", "ErrandTransport", "ErrandSQLite", httpTypes])
library(
    "ErrandRecording", ["ErrandCore", "ErrandTransport", "ErrandHTTP", "ErrandJSON", httpTypes])
library(
    "ErrandObservability",
    ["ErrandCore", "ErrandHTTP", "ErrandRecording", httpTypes, logging, metrics, tracing])
library(
    "ErrandServiceLifecycle", ["ErrandCore", "ErrandDownloadQueue", "ErrandOutbox", lifecycle])
library("ErrandConfiguration", ["ErrandCore", configuration])
library("ErrandProgressLine", ["ErrandHTTP"])
library(
    "ErrandInspector",
    [
        "ErrandCore", "ErrandTransport", "ErrandHTTP", "ErrandJSON", "ErrandRecording",
        httpTypes,
    ],
    // Scripts/inspector-page copies these files to Swift sources.
    exclude: ["Page"])
library(
    "ErrandTesting",
    ["ErrandCore", "ErrandTransport", "ErrandRecording", httpTypes])

// What several test targets share.
package.targets.append(
    .target(
        name: "TestSupport",
        dependencies: [
            "ErrandTesting", "ErrandCurl", "ErrandURLSession", "ErrandCore", "ErrandTransport",
            "ErrandHTTP", httpTypes,
        ],
        path: "Tests/Support", swiftSettings: settings))
tests("ErrandJSONTests", ["ErrandJSON"])
tests("ErrandHTTPTests", ["ErrandHTTP", "ErrandCore", "ErrandTesting", httpTypes])
tests("ErrandWebSocketTests", ["ErrandWebSocket", "ErrandHTTP", httpTypes])
tests("ErrandTransportTests", ["ErrandTransport", "ErrandTesting", "ErrandHTTP", httpTypes])
tests(
    "ErrandCoreTests",
    ["ErrandCore", "ErrandTransport", "ErrandHTTP", "ErrandJSON", "ErrandTesting", httpTypes])
tests(
    "ErrandCurlTests",
    [
        "ErrandCurl", "ErrandCore", "ErrandOpenSSL", "ErrandTransport", "ErrandOutbox",
        "ErrandReachability", "ErrandTesting", httpTypes,
    ])
// The rules of transports, for both of them.
tests(
    "TransportContractTests",
    ["ErrandCore", "ErrandTransport", "ErrandTesting", "ErrandCurl", "ErrandURLSession", httpTypes])
// Tests against real servers, which Scripts/peers/run starts on loopback.
tests(
    "RealPeerTests",
    [
        "Errand", "ErrandUploads", "ErrandDownloadQueue", "ErrandWorkflows", "ErrandCurl",
        "ErrandURLSession", "ErrandCore", "ErrandTransport", "ErrandRecording", "ErrandTesting",
        "ErrandWebSocket", "ErrandHTTP", httpTypes,
    ])
tests("ErrandOutboxTests", ["ErrandOutbox", "ErrandSQLite", "ErrandCore", "ErrandTesting"])
// The files of other targets as well: each kind of store refuses foreign and damaged ones.
tests(
    "ErrandSQLiteTests",
    [
        "ErrandSQLite", "ErrandOutbox", "ErrandDownloadQueue", "ErrandWorkflows", "Errand",
        "ErrandCore", "ErrandTesting",
    ])
tests(
    "ErrandRedisTests",
    ["ErrandRedis", "ErrandCore", "ErrandOpenSSL", "ErrandTesting", hiredis, httpTypes])
tests("ErrandReachabilityTests", ["ErrandReachability", "ErrandCore", "ErrandHTTP"])
tests(
    "ErrandTests",
    [
        "Errand", "ErrandWorkflows", "ErrandOutbox", "ErrandReachability", "ErrandSQLite",
        "ErrandRecording", "ErrandTesting", "ErrandTransport", "ErrandWebSocket", httpTypes,
    ])
tests(
    "ErrandUploadsTests",
    [
        "Errand", "ErrandUploads", "ErrandCurl", "ErrandCore", "ErrandTesting", "ErrandTransport",
        httpTypes,
    ])
tests(
    "ErrandDownloadQueueTests",
    [
        "ErrandDownloadQueue", "ErrandCurl", "ErrandCore", "ErrandHTTP", "ErrandSQLite",
        "ErrandTesting", "ErrandTransport", "ErrandURLSession", httpTypes,
    ])
tests(
    "ErrandRecordingTests",
    ["ErrandRecording", "ErrandTesting", "ErrandCurl", "ErrandCore", httpTypes])
tests(
    "ErrandObservabilityTests",
    [
        "ErrandObservability", "ErrandCore", "ErrandTransport", "ErrandRecording",
        "ErrandTesting", httpTypes, logging, metrics, tracing,
        optional("MetricsTestKit", of: "swift-metrics", trait: "Metrics"),
        optional("InMemoryTracing", of: "swift-distributed-tracing", trait: "Tracing"),
    ])
tests(
    "ErrandServiceLifecycleTests",
    [
        "ErrandServiceLifecycle", "ErrandDownloadQueue", "ErrandOutbox", "ErrandCore",
        "ErrandTransport", "ErrandTesting", lifecycle,
        optional(
            "ServiceLifecycleTestKit", of: "swift-service-lifecycle", trait: "ServiceLifecycle"),
    ])
tests(
    "ErrandConfigurationTests",
    ["ErrandConfiguration", "ErrandCore", "ErrandTesting", configuration])
tests("ErrandProgressLineTests", ["ErrandProgressLine", "ErrandHTTP"])
tests(
    "ErrandInspectorTests",
    [
        "Errand", "ErrandInspector", "ErrandRecording", "ErrandTesting", "ErrandCurl",
        "ErrandCore", "ErrandTransport", "ErrandJSON", httpTypes,
    ])
// The samples of README and articles.
package.targets.append(
    .testTarget(
        name: "DocumentationSamples",
        dependencies: [
            "Errand", "ErrandTransport", "ErrandWorkflows", "ErrandOutbox", "ErrandUploads",
            "ErrandReachability", "ErrandDownloadQueue", "ErrandRecording", "ErrandProgressLine",
            "ErrandRedis",
            "ErrandObservability", "ErrandServiceLifecycle", "ErrandConfiguration",
            "ErrandInspector", "ErrandTesting", "TestSupport", logging, metrics, tracing, lifecycle,
            configuration,
        ],
        swiftSettings: strict))
client("Swift5", [.swiftLanguageMode(.v5)])
client("Swift6", [])
client("MainActor", [.defaultIsolation(MainActor.self)])

// The names of test targets, separated by commas: the others, the client targets and the compiled
// samples are left out, so that a change to few targets is built and tested quickly.
if let names = ProcessInfo.processInfo.environment["ERRAND_TEST_TARGETS"]?.split(separator: ",") {
    let isKept = { (name: String) in names.contains { $0 == name } }
    package.targets.removeAll { target in
        let isOfTests = target.type == .test || (target.path?.hasPrefix("Tests/") ?? false)
        return isOfTests && target.name != "TestSupport" && !isKept(target.name)
    }
}
