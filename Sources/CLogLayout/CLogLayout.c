#include "CLogLayout.h"
