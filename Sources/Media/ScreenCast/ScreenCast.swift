// ScreenCast: asks the desktop's portal for pictures of its screen, which the user chooses in a
// dialog, and keeps the token with which the same choice is restored later.
//
// The answer is a connection to PipeWire that sees one node. The module refuses to read pictures:
// CapturePipeWire does that, in a process that needs no session bus.
// Requirements, failures and traps: docs/design/portal.md.
