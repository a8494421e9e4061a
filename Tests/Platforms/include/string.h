#pragma once
#include <CDarwin.h>
