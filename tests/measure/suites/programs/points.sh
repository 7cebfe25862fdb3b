#!/bin/sh
# TAP, as kselftest prints it.
echo "TAP version 13"
echo "1..5"
echo "ok 1 opens"
echo "# a diagnostic"
echo "not ok 2 - closes"
echo "ok 3 seeks # SKIP no such device"
echo "not ok 4 locks # TODO some day"
echo "ok 5 opens"
exit 1
