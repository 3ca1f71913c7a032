import type { CompletedCommand, CompletedOption, Suggestion } from './describe-commands.ts';

/** Writes the script for fish. */
export function renderFish(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => quote(path.join(' ')));
  const lines = commands.flatMap(({ path, subcommands, options, argument }) => {
    const start = `complete -c gdn -n ${quote(`__gdn_at ${quote(path.join(' '))}`)}`;
    return [
      ...subcommands.map(({ name, summary }) => `${start} -a ${quote(name)} -d ${quote(summary)}`),
      ...options.map((option) => `${start} ${flagsOf(option)} -d ${quote(option.description)}`),
      ...(argument === 'nothing' ? [] : [`${start} ${suggest(argument)}`]),
    ];
  });
  return `# Completion of gdn for fish. Install it: gdn completion fish > ~/.config/fish/completions/gdn.fish
set -g __gdn_commands ${paths.join(' ')}

# Tells whether the typed command is this one.
function __gdn_at
    set -l typed
    for word in (commandline -opc)[2..-1]
        if contains -- (string join -- ' ' $typed $word) $__gdn_commands
            set -a typed $word
        end
    end
    test "$typed" = "$argv[1]"
end

complete -c gdn -f
${lines.join('\n')}
`;
}

function flagsOf({ short, long, value }: CompletedOption): string {
  const name = `${short === undefined ? '' : `-s ${short.slice(1)} `}-l ${long.slice(2)}`;
  return value === undefined ? name : `${name} -r ${suggest(value)}`;
}

function suggest(value: Suggestion): string {
  if (value === 'nothing') return '-f';
  if (value === 'folders') return "-f -a '(__fish_complete_directories (commandline -ct))'";
  if (value === 'files') return '-F';
  return `-f -a ${quote(value.join(' '))}`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
}
