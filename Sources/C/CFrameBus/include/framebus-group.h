#ifndef FRAMEBUS_GROUP_H
#define FRAMEBUS_GROUP_H
#include "framebus.h"
#endif
