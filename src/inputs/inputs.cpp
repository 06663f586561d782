#include "src/inputs/inputs.h"
