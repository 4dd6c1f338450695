#!/bin/sh
# What a first user does, with the command.   quickstart.sh UNDERTEXT
set -eu
undertext=$1
store=sqlite:${TMPDIR:-/tmp}/undertext-quickstart-$$.db
trap 'rm -f "${store#sqlite:}"*' EXIT
said=$(printf '%s\n' \
  '{"operation":"APPEND","messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]}' \
  '{"operation":"TRUNCATE","keepLast":1}' '{"operation":"UNDO"}' '{"query":"count"}' | "$undertext" exec --store "$store" --conversation support-17)
case $said in *'"count":2'*) ;; *) echo "$said" >&2; exit 1 ;; esac
# Exact counts: the vocabularies are in the package.
[ "$(printf 'hello world' | "$undertext" count --tokenizer o200k_base - | tr -dc 0-9)" = 2 ] || { echo "no vocabulary" >&2; exit 1; }
