#include "src/contract/contract.h"
