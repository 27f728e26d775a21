#include "CGStreamer.h"
