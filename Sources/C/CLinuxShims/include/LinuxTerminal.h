// A terminal that shows nothing of what is typed, whatever signal ends or stops the process.
#pragma once
#include <stdbool.h>

/// Turns echo, lines and keys that send signals off (termios(3)), until linux_show_typing. A signal
/// that ends or stops the process meanwhile finds the terminal as it was; once continued, it is
/// silent again. One terminal at a time. Returns false for what is not a terminal.
bool linux_hide_typing(int descriptor);

/// Sends a signal that another thread received to the thread that hid typing. Returns false if none
/// does.
bool linux_pass_to_asker(int number);

/// Undoes linux_hide_typing.
void linux_show_typing(void);
