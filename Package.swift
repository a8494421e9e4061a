// swift-tools-version: 6.2
import Foundation
import PackageDescription

// CI sets this variable to treat warnings in Errand's own code as errors.
let isStrict = ProcessInfo.processInfo.environment["ERRAND_WARNINGS_AS_ERRORS"] != nil

let strict: [SwiftSetting] = isStrict ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"),
    ] + strict

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")

// Without its trait, a package is not resolved.
func optional(_ name: String, of package: String, trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}
let logging = optional("Logging", of: "swift-log", trait: "Logging")
let metrics = optional("Metrics", of: "swift-metrics", trait: "Metrics")
let tracing = optional("Tracing", of: "swift-distributed-tracing", trait: "Tracing")
let lifecycle = optional(
    "ServiceLifecycle", of: "swift-service-lifecycle", trait: "ServiceLifecycle")
let configuration = optional(
    "Configuration", of: "swift-configuration", trait: "Configuration")

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
    products: [
        .library(name: "Errand", targets: ["Errand"]),
        .library(name: "ErrandJSON", targets: ["ErrandJSON"]),
        .library(name: "ErrandHTTP", targets: ["ErrandHTTP"]),
        .library(name: "ErrandTransport", targets: ["ErrandTransport"]),
        .library(name: "ErrandCaching", targets: ["ErrandCaching"]),
        .library(name: "ErrandCore", targets: ["ErrandCore"]),
        .library(name: "ErrandOutbox", targets: ["ErrandOutbox"]),
        .library(name: "ErrandUploads", targets: ["ErrandUploads"]),
        .library(name: "ErrandDownloadQueue", targets: ["ErrandDownloadQueue"]),
        .library(name: "ErrandCurl", targets: ["ErrandCurl"]),
        .library(name: "ErrandURLSession", targets: ["ErrandURLSession"]),
        .library(name: "ErrandSQLite", targets: ["ErrandSQLite"]),
        .library(name: "ErrandRedis", targets: ["ErrandRedis"]),
        .library(name: "ErrandObservability", targets: ["ErrandObservability"]),
        .library(name: "ErrandServiceLifecycle", targets: ["ErrandServiceLifecycle"]),
        .library(name: "ErrandConfiguration", targets: ["ErrandConfiguration"]),
        .library(name: "ErrandReachability", targets: ["ErrandReachability"]),
        .library(name: "ErrandRecording", targets: ["ErrandRecording"]),
        .library(name: "ErrandProgressLine", targets: ["ErrandProgressLine"]),
        .library(name: "ErrandInspector", targets: ["ErrandInspector"]),
        .library(name: "ErrandTesting", targets: ["ErrandTesting"]),
    ],
    traits: [
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
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
        .package(
            url: "https://github.com/apple/swift-configuration.git", from: "1.0.0", traits: []),
    ],
    targets: [
        // Scripts/check-boundaries checks which modules the files of each target may import.
        .target(name: "ErrandJSON", swiftSettings: settings),
        .target(
            name: "ErrandHTTP", dependencies: ["ErrandJSON", httpTypes], swiftSettings: settings),
        .target(
            name: "ErrandTransport", dependencies: ["ErrandHTTP", httpTypes],
            swiftSettings: settings),
        .target(
            name: "ErrandCaching", dependencies: ["ErrandHTTP", httpTypes], swiftSettings: settings
        ),
        .target(
            name: "ErrandConcurrency", dependencies: ["ErrandHTTP"], swiftSettings: settings
        ),
        .target(
            name: "ErrandDownload", dependencies: ["ErrandHTTP", httpTypes], swiftSettings: settings
        ),
        .target(
            name: "ErrandStreaming", dependencies: ["ErrandTransport", "ErrandHTTP", "ErrandJSON"],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandCore",
            dependencies: [
                "ErrandHTTP", "ErrandTransport", "ErrandCaching", "ErrandConcurrency",
                "ErrandDownload", "ErrandStreaming", httpTypes,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandOutbox", dependencies: ["ErrandCore", httpTypes],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandURLSession", dependencies: ["ErrandTransport", "ErrandHTTP", httpTypes],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CLibcurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .target(
            name: "ErrandCurl",
            dependencies: [
                "ErrandTransport", "ErrandHTTP", httpTypes,
                .target(name: "CLibcurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .target(
            name: "ErrandSQLite",
            dependencies: ["ErrandCaching", "ErrandOutbox", "CSQLite", httpTypes],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CHiredis", pkgConfig: hiredisPackage,
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]
        ),
        .target(
            name: "ErrandRedis", dependencies: ["ErrandCaching", "ErrandHTTP", hiredis, httpTypes],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandReachability", dependencies: ["ErrandCore"], swiftSettings: settings
        ),
        .target(
            name: "Errand",
            dependencies: [
                "ErrandCore", "ErrandDownload", "ErrandTransport", "ErrandURLSession", "ErrandCurl",
                "ErrandSQLite", "ErrandStreaming", httpTypes,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandUploads",
            dependencies: [
                "Errand", "ErrandCore", "ErrandHTTP", "ErrandTransport", "ErrandDownload",
                httpTypes,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandDownloadQueue",
            dependencies: [
                "ErrandCore", "ErrandHTTP", "ErrandTransport", "ErrandDownload", "ErrandSQLite",
                httpTypes,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandObservability",
            dependencies: [
                "ErrandCore", "ErrandHTTP", "ErrandRecording", httpTypes, logging, metrics, tracing,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandServiceLifecycle",
            dependencies: ["ErrandCore", "ErrandDownloadQueue", "ErrandOutbox", lifecycle],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandConfiguration", dependencies: ["ErrandCore", configuration],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandRecording",
            dependencies: ["ErrandCore", "ErrandTransport", "ErrandHTTP", "ErrandJSON", httpTypes],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandProgressLine", dependencies: ["ErrandHTTP"], swiftSettings: settings
        ),
        .target(
            name: "ErrandInspector",
            dependencies: [
                "ErrandCore", "ErrandTransport", "ErrandHTTP", "ErrandJSON", "ErrandRecording",
                httpTypes,
            ],
            // Scripts/inspector-page copies these files to Swift sources.
            exclude: ["Page"],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandTesting",
            dependencies: ["ErrandCore", "ErrandTransport", "ErrandRecording", httpTypes],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandJSONTests", dependencies: ["ErrandJSON"], swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandHTTPTests",
            dependencies: ["ErrandHTTP", "ErrandTesting", httpTypes],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandTransportTests",
            dependencies: ["ErrandTransport", "ErrandTesting", "ErrandHTTP", httpTypes],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandProgressLineTests",
            dependencies: ["ErrandProgressLine", "ErrandHTTP"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandCachingTests",
            dependencies: ["ErrandCaching", "ErrandHTTP", httpTypes],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandDownloadTests",
            dependencies: ["ErrandDownload", "ErrandHTTP"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandStreamingTests",
            dependencies: ["ErrandStreaming", "ErrandTransport", "ErrandHTTP", "ErrandJSON"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandCoreTests",
            dependencies: [
                "ErrandCore", "ErrandTransport", "ErrandCaching", "ErrandConcurrency",
                "ErrandDownload", "ErrandStreaming", "ErrandTesting", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandOutboxTests",
            dependencies: ["ErrandOutbox", "ErrandCore"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandReachabilityTests",
            dependencies: ["ErrandReachability", "ErrandHTTP"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TransportContractTests",
            dependencies: [
                "ErrandCore", "ErrandTransport", "ErrandTesting", "ErrandCurl", "ErrandURLSession",
                httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandCurlTests",
            dependencies: [
                "ErrandCurl", "ErrandCore", "ErrandTransport", "ErrandStreaming", "ErrandOutbox",
                "ErrandDownload", "ErrandReachability", "ErrandTesting", httpTypes,
            ],
            swiftSettings: settings
        ),
        // Tests against real servers, which Scripts/peers/run starts on loopback.
        .testTarget(
            name: "RealPeerTests",
            dependencies: [
                "Errand", "ErrandUploads", "ErrandCurl", "ErrandURLSession", "ErrandCore",
                "ErrandTransport", "ErrandStreaming", "ErrandRecording", "ErrandTesting", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandSQLiteTests",
            dependencies: ["ErrandSQLite", "ErrandOutbox", "ErrandCore", "ErrandTesting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandRedisTests",
            dependencies: [
                "ErrandRedis", "ErrandCaching", "ErrandCore", "ErrandTesting", hiredis, httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandObservabilityTests",
            dependencies: [
                "ErrandObservability", "ErrandCore", "ErrandTransport", "ErrandStreaming",
                "ErrandRecording", "ErrandTesting", httpTypes, logging, metrics, tracing,
                optional("MetricsTestKit", of: "swift-metrics", trait: "Metrics"),
                optional("InMemoryTracing", of: "swift-distributed-tracing", trait: "Tracing"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandServiceLifecycleTests",
            dependencies: [
                "ErrandServiceLifecycle", "ErrandDownloadQueue", "ErrandOutbox", "ErrandCore",
                "ErrandTransport", "ErrandTesting", lifecycle,
                optional(
                    "ServiceLifecycleTestKit", of: "swift-service-lifecycle",
                    trait: "ServiceLifecycle"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandConfigurationTests",
            dependencies: ["ErrandConfiguration", "ErrandCore", "ErrandTesting", configuration],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandTests",
            dependencies: [
                "Errand", "ErrandOutbox", "ErrandReachability", "ErrandTesting", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandUploadsTests",
            dependencies: [
                "Errand", "ErrandUploads", "ErrandCurl", "ErrandCore", "ErrandTesting",
                "ErrandTransport", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandDownloadQueueTests",
            dependencies: [
                "ErrandDownloadQueue", "ErrandCurl", "ErrandCore", "ErrandDownload", "ErrandHTTP",
                "ErrandSQLite", "ErrandTesting", "ErrandTransport", "ErrandURLSession", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandRecordingTests",
            dependencies: [
                "ErrandRecording", "ErrandTesting", "ErrandCurl", "ErrandCore", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandInspectorTests",
            dependencies: [
                "Errand", "ErrandInspector", "ErrandRecording", "ErrandTesting", "ErrandCurl",
                "ErrandCore", "ErrandTransport", "ErrandJSON", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "DocumentationSamples",
            dependencies: [
                "Errand", "ErrandTransport", "ErrandOutbox", "ErrandUploads", "ErrandReachability",
                "ErrandDownloadQueue", "ErrandRecording", "ErrandProgressLine",
                "ErrandRedis",
                "ErrandObservability", "ErrandServiceLifecycle", "ErrandConfiguration",
                "ErrandInspector", "ErrandTesting", logging, metrics, tracing, lifecycle,
                configuration,
            ],
            swiftSettings: strict
        ),
        // Client code with the public API only, in three language modes: it must compile without warnings.
        .target(
            name: "ClientSwift5", dependencies: ["Errand"], path: "Tests/Clients/Swift5",
            packageAccess: false, swiftSettings: [.swiftLanguageMode(.v5)] + strict
        ),
        .target(
            name: "ClientSwift6", dependencies: ["Errand"], path: "Tests/Clients/Swift6",
            packageAccess: false, swiftSettings: strict
        ),
        .target(
            name: "ClientMainActor", dependencies: ["Errand"], path: "Tests/Clients/MainActor",
            packageAccess: false, swiftSettings: [.defaultIsolation(MainActor.self)] + strict
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The names of test targets, separated by commas: the others, the client targets and the compiled
// samples are left out, so that a change to few targets is built and tested quickly.
if let names = ProcessInfo.processInfo.environment["ERRAND_TEST_TARGETS"]?.split(separator: ",") {
    let isKept = { (name: String) in names.contains { $0 == name } }
    package.targets.removeAll { target in
        let isOfTests = target.type == .test || (target.path?.hasPrefix("Tests/") ?? false)
        return isOfTests && !isKept(target.name)
    }
}
