// simdjson's DOM behind two C functions.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
/// Parses; the number of bytes if they are JSON, 0 if not.
size_t simdjson_parse(const char *bytes, size_t count);
/// Parses and visits every value; how many there are.
size_t simdjson_walk(const char *bytes, size_t count);
/// The instruction set in use.
const char *simdjson_implementation(void);
#ifdef __cplusplus
}
#endif
