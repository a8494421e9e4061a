// libFuzzer's main function calls LLVMFuzzerTestOneInput in WebSocketFuzz.swift.
typedef int errand_empty_translation_unit;
