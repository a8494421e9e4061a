// libFuzzer's main function calls LLVMFuzzerTestOneInput in MessageFuzz.swift.
typedef int errand_empty_translation_unit;
