#include "src/compare/comparison.h"
