import { Argument } from 'commander';
import type { GdnCommand, Result } from '../gdn-command.ts';
import type { CommonOptions } from '../common-options.ts';
import type { Terminal } from '../terminal.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

export function addCompletionCommand(program: GdnCommand): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .summary('print a script that completes commands in your shell')
    .description(
      'Prints a script for bash, zsh or fish. After the script is loaded, the Tab key completes commands, options, ' +
        'folders, and values with fixed choices. Load it again after an update of gdn, because it lists the commands ' +
        'of this version.',
    )
    .commonOptions()
    .examples(
      "echo 'source <(gdn completion bash)' >> ~/.bashrc",
      "echo 'source <(gdn completion zsh)' >> ~/.zshrc",
      'gdn completion fish > ~/.config/fish/completions/gdn.fish',
    )
    .runs((_options: CommonOptions, _terminal: Terminal, shell: (typeof shells)[number]) =>
      writeScript(program, shell),
    );
}

async function writeScript(program: GdnCommand, shell: (typeof shells)[number]): Promise<Result> {
  const [{ describeCommands }, { renderBash }, { renderZsh }, { renderFish }] = await Promise.all([
    import('../completion/describe-commands.ts'),
    import('../completion/render-bash.ts'),
    import('../completion/render-zsh.ts'),
    import('../completion/render-fish.ts'),
  ]);
  const render = { bash: renderBash, zsh: renderZsh, fish: renderFish }[shell];
  const script = render(describeCommands(program));
  return { json: { shell, script }, text: script };
}
