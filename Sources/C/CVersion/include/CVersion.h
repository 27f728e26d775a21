// The commit that this build was made from.
#pragma once

/// The commit that FRAMEBUS_COMMIT named when Package.swift was read (scripts/install sets it);
/// empty without it.
const char *framebus_commit(void);
