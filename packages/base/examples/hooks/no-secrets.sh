#!/bin/sh
if grep -q '"prompt":"[^"]*password'; then
  echo 'Passwords do not belong into a conversation.' >&2
  exit 2
fi
