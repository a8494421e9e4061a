// swift-tools-version: 6.2
import Foundation
import PackageDescription

// CI sets this variable: a warning in Errand's own code is then an error.
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

// Users who do not enable the trait never see the package behind it.
let logging = Target.Dependency.product(
    name: "Logging", package: "swift-log", condition: .when(traits: ["Observability"]))

let package = Package(
    name: "errand",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Errand", targets: ["Errand"]),
        .library(name: "ErrandJSON", targets: ["ErrandJSON"]),
        .library(name: "ErrandCore", targets: ["ErrandCore"]),
        .library(name: "ErrandCurl", targets: ["ErrandCurl"]),
        .library(name: "ErrandURLSession", targets: ["ErrandURLSession"]),
        .library(name: "ErrandSQLite", targets: ["ErrandSQLite"]),
        .library(name: "ErrandObservability", targets: ["ErrandObservability"]),
        .library(name: "ErrandReachability", targets: ["ErrandReachability"]),
        .library(name: "ErrandTesting", targets: ["ErrandTesting"]),
    ],
    traits: [
        .trait(
            name: "Observability",
            description: "Builds ErrandObservability. Only then is swift-log resolved.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
    ],
    targets: [
        // The walls: which target may import what is checked by Scripts/check-walls.
        .target(name: "ErrandJSON", swiftSettings: settings),
        .target(
            name: "ErrandCore", dependencies: ["ErrandJSON", httpTypes], swiftSettings: settings),
        .target(
            name: "ErrandURLSession", dependencies: ["ErrandCore", httpTypes],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CLibcurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .target(
            name: "ErrandCurl",
            dependencies: [
                "ErrandCore", httpTypes,
                .target(name: "CLibcurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .target(
            name: "ErrandSQLite", dependencies: ["ErrandCore", "CSQLite", httpTypes],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandReachability", dependencies: ["ErrandCore"], swiftSettings: settings
        ),
        .target(
            name: "Errand",
            dependencies: [
                "ErrandCore", "ErrandURLSession", "ErrandCurl", "ErrandSQLite", httpTypes,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandObservability",
            dependencies: [
                "ErrandCore", logging,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ErrandTesting", dependencies: ["ErrandCore", httpTypes], swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandJSONTests", dependencies: ["ErrandJSON"], swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandCoreTests", dependencies: ["ErrandCore", "ErrandTesting", httpTypes],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TransportContractTests",
            dependencies: [
                "ErrandCore", "ErrandTesting", "ErrandCurl", "ErrandURLSession", httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandCurlTests",
            dependencies: ["ErrandCurl", "ErrandCore", "ErrandTesting", httpTypes],
            swiftSettings: settings
        ),
        // Against servers that Scripts/peers/run starts on loopback.
        .testTarget(
            name: "RealPeerTests",
            dependencies: [
                "Errand", "ErrandCurl", "ErrandURLSession", "ErrandCore", "ErrandTesting",
                httpTypes,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandSQLiteTests",
            dependencies: ["ErrandSQLite", "ErrandCore", "ErrandTesting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandObservabilityTests",
            dependencies: ["ErrandObservability", "ErrandCore", "ErrandTesting", logging],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrandTests",
            dependencies: ["Errand", "ErrandReachability", "ErrandTesting", httpTypes],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ReadmeSamples", dependencies: ["Errand", "ErrandTesting"],
            swiftSettings: strict
        ),
        // Users' code in three regimes, with nothing but the public API: it must compile without a warning.
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
