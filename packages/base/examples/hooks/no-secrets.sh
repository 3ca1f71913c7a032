#!/bin/sh
# Searches the whole input, not one field: a pattern such as "prompt":"[^"]*password ends at the first quote of the text.
if grep -qi 'password'; then
  echo 'Passwords do not belong into a conversation.' >&2
  exit 2
fi
