"""Stands in for a user's systemd, as far as `framebus broadcast start --detach` uses it.

    user_manager.py DIRECTORY    listens at DIRECTORY/systemd/private, and puts systemd-run and
                                 systemctl into DIRECTORY/bin; ready once it prints "listening"

As systemd-run it writes its options and the command to DIRECTORY/started, a word a line, runs the
command and ends as it does. As systemctl, which only stops, it sends SIGTERM to that command.
"""

import os
import signal
import socket
import subprocess
import sys

name = os.path.basename(sys.argv[0])
place = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
if name == "systemd-run":
    words = sys.argv[1:]
    with open(os.path.join(place, "started"), "w", encoding="utf-8") as file:
        file.write("\n".join(words))
    command = [word.replace("$$", "$") for word in words[words.index("--") + 1:]]
    host = subprocess.Popen(command, start_new_session=True)
    with open(os.path.join(place, "pid"), "w", encoding="utf-8") as file:
        file.write(str(host.pid))
    sys.exit(max(host.wait(), 0))
elif name == "systemctl":
    with open(os.path.join(place, "pid"), encoding="utf-8") as file:
        os.kill(int(file.read()), signal.SIGTERM)
else:
    place = sys.argv[1]
    os.makedirs(os.path.join(place, "systemd"))
    os.makedirs(os.path.join(place, "bin"))
    for name in ("systemd-run", "systemctl"):
        path = os.path.join(place, "bin", name)
        with open(path, "w", encoding="utf-8") as file:
            with open(__file__, encoding="utf-8") as own:
                file.write("#!/usr/bin/python3\n" + own.read())
        os.chmod(path, 0o755)
    with socket.socket(socket.AF_UNIX) as manager:
        manager.bind(os.path.join(place, "systemd", "private"))
        manager.listen()
        print("listening", flush=True)
        while True:
            manager.accept()[0].close()
