#!/bin/sh
# Ends with the number that it is given, as LTP's and kselftest's programs do.
echo "code ${CODE:-0}"
exit "${CODE:-0}"
