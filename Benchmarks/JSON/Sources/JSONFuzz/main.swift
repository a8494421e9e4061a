// Parses, serializes, validates and decodes randomly mutated documents for a given time, and stops
// at the first inconsistency.
//
//     swift run -c release JSONFuzz SECONDS [SEED]
//     swift run -c debug --sanitize address JSONFuzz 600
import ErrandJSON
import Foundation

let seconds = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 60
let seed = CommandLine.arguments.dropFirst(2).first.flatMap(UInt64.init) ?? 1
var fuzzer = Fuzzer(seed: seed)
let end = Date(timeIntervalSinceNow: seconds)
var rounds = 0
while Date() < end {
    for _ in 0..<1000 { fuzzer.round() }
    rounds += 1000
    if rounds % 1_000_000 == 0 {
        let line = "\(rounds) documents, \(fuzzer.accepted) accepted\n"
        FileHandle.standardError.write(Data(line.utf8))
    }
}
print("\(rounds) documents, \(fuzzer.accepted) accepted, no fault found; seed \(seed)")
