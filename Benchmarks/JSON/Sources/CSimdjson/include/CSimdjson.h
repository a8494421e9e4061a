// A C interface to simdjson's DOM.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
/// Parses a document and returns its number of bytes; 0 if it is invalid.
size_t simdjson_parse(const char *bytes, size_t count);
/// Parses a document, visits every value and returns their number; 0 if it is invalid.
size_t simdjson_walk(const char *bytes, size_t count);
/// The name of the active implementation (instruction set).
const char *simdjson_implementation(void);
#ifdef __cplusplus
}
#endif
