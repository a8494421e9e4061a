#pragma once

/// The number of allocations by the process so far; -1 if it is not counted.
long allocation_count(void);
