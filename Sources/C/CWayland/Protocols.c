// What wayland-scanner makes of the protocols, see Protocols/README.md.
#ifdef FRAMEBUS_MEDIA
#include "Protocols/ext-foreign-toplevel-list-v1-code.inc"
#include "Protocols/ext-image-capture-source-v1-code.inc"
#include "Protocols/ext-image-copy-capture-v1-code.inc"
#include "Protocols/wlr-screencopy-unstable-v1-code.inc"
#include "Protocols/xdg-output-unstable-v1-code.inc"
#endif
