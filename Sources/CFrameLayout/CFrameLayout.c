#include "CFrameLayout.h"
