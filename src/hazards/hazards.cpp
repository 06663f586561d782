#include "src/hazards/hazards.h"
