import { quoteForShell } from '../quote-for-shell.ts';
import type { CompletedCommand } from './describe-commands.ts';
import { groupValues, keyOf, namesOf } from './script-parts.ts';

/** Writes the script for bash 3.2 and later, the version of macOS. */
export function renderBash(commands: readonly CompletedCommand[]): string {
  const values = groupValues(commands).map(
    ({ options, value }) => `    ${options.map(quote).join('|')}) ${suggest(value)}; return ;;`,
  );
  const cases = commands.map(({ path, subcommands, options, argument }) => {
    const words = [...subcommands.map(({ name }) => name), ...(typeof argument === 'string' ? [] : argument)];
    const kind = typeof argument === 'string' ? argument : 'nothing';
    return `    ${quote(keyOf(path))}) words=${quote(words.join(' '))} options=${quote(options.flatMap(namesOf).join(' '))} kind=${kind} ;;`;
  });
  return `# Completion of gdn for bash. Load it in ~/.bashrc: source <(gdn completion bash)
_gdn_suggest() {
  local line
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$@")
}

_gdn() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}"
  local command='' index word words options kind
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if [[ $word == -- ]]; then
      compopt -o filenames 2>/dev/null
      _gdn_suggest -f -- "$current"
      return
    fi
    case "$command $word" in
    ${commands.flatMap(({ path }) => (path.length === 0 ? [] : [quote(keyOf(path))])).join('|')}) command="$command $word" ;;
    esac
  done
  case "$command $before" in
${values.join('\n')}
  esac
  case "$command" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then
    _gdn_suggest -W "$options" -- "$current"
  elif [[ -n $words ]]; then
    _gdn_suggest -W "$words" -- "$current"
  elif [[ $kind == folders ]]; then
    ${suggest('folders')}
  elif [[ -z $current ]]; then
    _gdn_suggest -W "$options" -- "$current"
  fi
}

complete -F _gdn gdn
`;
}

function suggest(value: CompletedCommand['argument']): string {
  if (value === 'nothing') return ':';
  if (value === 'folders') return 'compopt -o filenames 2>/dev/null; _gdn_suggest -d -- "$current"';
  if (value === 'files') return 'compopt -o filenames 2>/dev/null; _gdn_suggest -f -- "$current"';
  return `_gdn_suggest -W ${quote(value.join(' '))} -- "$current"`;
}

/** Quotes always, because a pattern of `case` must not be empty. */
function quote(text: string): string {
  return text === '' ? "''" : quoteForShell(text);
}
