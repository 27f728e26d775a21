#!/bin/sh -e
# Writes what a version of FrameBus leaves on disk, for the tests of later versions.
#
#   make_fixture.sh BUILD TAR        BUILD has framebus; run as root
#
# A version's file is made once, at its release, and kept.
PATH=$1:$PATH
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
bus() { framebus --root "$root" --group group.dev.example.kept "$@"; }
bus group create > /dev/null
printf 'a secret' | bus credential set live.example.com me --recipient extension --label Studio
bus defaults write editor theme dark
bus defaults write editor size 42 --type int
bus defaults write editor ratio 1.5 --type double
bus defaults write editor open true --type bool
bus defaults write editor list '["a", {"b": [1, 2.5]}]' --type json
bus log append --level warning 'a line that is kept' --metadata cause=test
bus semaphore create gate --value 3
bus capture test:gradient --size 64x48 --fps 10 --stream kept &
capture=$!
bus record kept "$root/kept.fbrec" --frames 3
kill "$capture"
wait "$capture" || true
tar -C "$root" --owner=0 --group=0 --numeric-owner --mtime=2026-11-27T00:00Z -cf - state kept.fbrec |
  xz -9 > "$2"
