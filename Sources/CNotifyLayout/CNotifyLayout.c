#include "CNotifyLayout.h"
