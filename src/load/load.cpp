#include "src/load/load.h"
