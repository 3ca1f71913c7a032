import type { CompletedCommand, Suggestion } from './describe-commands.ts';
import { groupValues, keyOf, namesOf } from './script-parts.ts';

/** Writes the script for zsh: for a file `_gdn` in `$fpath`, or for `source` after `compinit`. */
export function renderZsh(commands: readonly CompletedCommand[]): string {
  const values = groupValues(commands).map(
    ({ options, value }) => `    (${options.map(quote).join('|')}) ${suggest(value)}; return ;;`,
  );
  const cases = commands.map(({ path, subcommands, options, argument }) => {
    const described = options.flatMap((option) => namesOf(option).map((name) => `${name}:${option.description}`));
    return [
      `    (${quote(keyOf(path))})`,
      `      commands=(${subcommands.map(({ name, summary }) => quote(`${name}:${summary}`)).join(' ')})`,
      `      options=(${described.map(quote).join(' ')})`,
      `      [[ $current == -* ]] || { ${suggest(argument)}; }`,
      '      ;;',
    ].join('\n');
  });
  return `#compdef gdn
# Completion of gdn for zsh. Load it in ~/.zshrc, after compinit: source <(gdn completion zsh)
_gdn() {
  local current="\${words[CURRENT]}" command='' word
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ $word == -- ]]; then
      _files
      return
    fi
    case "$command $word" in
    (${commands.flatMap(({ path }) => (path.length === 0 ? [] : [quote(keyOf(path))])).join('|')}) command="$command $word" ;;
    esac
  done
  case "$command \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$command" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then
    _describe -o option options
  elif (( \${#commands} )); then
    _describe command commands
  fi
}

if [[ "\${funcstack[1]}" == _gdn ]]; then
  _gdn "$@"
else
  compdef _gdn gdn
fi
`;
}

function suggest(value: Suggestion): string {
  if (value === 'nothing') return ':';
  if (value === 'folders') return '_files -/';
  if (value === 'files') return '_files';
  return `compadd -- ${value.map(quote).join(' ')}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
