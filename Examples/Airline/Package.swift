// swift-tools-version: 6.2
import Foundation
import PackageDescription

let isStrict = ProcessInfo.processInfo.environment["ERRAND_WARNINGS_AS_ERRORS"] != nil

let package = Package(
    name: "Airline",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "errand", path: "../..")],
    targets: [
        .executableTarget(
            name: "Airline",
            dependencies: [
                .product(name: "Errand", package: "errand"),
                .product(name: "ErrandTesting", package: "errand"),
            ],
            swiftSettings: isStrict ? [.treatAllWarnings(as: .error)] : []
        )
    ],
    swiftLanguageModes: [.v6]
)
