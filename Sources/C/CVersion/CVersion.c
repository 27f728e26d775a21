#include "CVersion.h"

#ifndef FRAMEBUS_COMMIT
#define FRAMEBUS_COMMIT ""
#endif

const char *framebus_commit(void) { return FRAMEBUS_COMMIT; }
