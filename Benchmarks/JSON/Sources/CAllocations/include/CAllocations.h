#pragma once

/// How many blocks the process has asked for so far; -1 where that is not counted.
long allocation_count(void);
