// The layout of the structures of the C interface, on every machine with 64 bits. A change here
// breaks programs that were compiled before: new fields go to the end.
#include <stddef.h>

#include "framebus-group.h"
#include "framebus.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)

SIZE(framebus_error, 1040);
AT(framebus_error, message, 16);
SIZE(framebus_format, 112);
AT(framebus_format, planes, 44);
AT(framebus_format, channel_mask, 96);
SIZE(framebus_metadata, 128);
AT(framebus_metadata, damage, 64);
SIZE(framebus_publisher_options, 56);
SIZE(framebus_slot, 32);
SIZE(framebus_publisher_status, 56);
SIZE(framebus_subscriber_options, 40);
SIZE(framebus_frame, 104);
AT(framebus_frame, pts_ns, 64);
AT(framebus_frame, reserved, 100);
SIZE(framebus_subscriber_status, 376);
SIZE(framebus_stream_status, 376);
SIZE(framebus_delivery, 48);
SIZE(framebus_log_field, 24);
