// Every system call of FrameBus, with types: descriptors that one owner closes, mappings, sockets,
// the event loop, processes, files, clocks. A call is three hops at most: a type, a verb, the call.
//
// This module refuses policy. It does not know groups, streams or frames, never retries what its
// caller did not ask to have retried, and never prints. Nothing above it imports Glibc.
