// The options of the compiler alone: CPipeWire includes what it needs, and loads the library
// when it is first used.
