#include "CSemaphoreLayout.h"
