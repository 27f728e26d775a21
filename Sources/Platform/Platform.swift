// All system calls of FrameBus, with typed wrappers: descriptors with one owner, mappings, sockets,
// the event loop, processes, files, clocks. A call takes at most three hops: type, verb, system
// call.
//
// It also has the rules for text that every layer shares: PlainText, and Addresses, which shows web
// addresses without their secrets.
//
// This module refuses policy. It does not know groups, streams or frames, never retries unless its
// caller requests it, and never prints. No other module imports Glibc.
