import type { Backup } from '@goondan/runtime/internal';
import type { BundleOptions } from '../common-options.ts';
import { exitCodes } from '../exit-codes.ts';
import type { GdnCommand, Result } from '../gdn-command.ts';
import { harmlessLines } from '../harmless-text.ts';
import { stopSignals } from '../stop-signals.ts';
import type { Terminal } from '../terminal.ts';
import { withInterrupt } from '../with-interrupt.ts';

export function addBackupCommand(program: GdnCommand): void {
  program
    .command('backup')
    .argument('<backup-folder>', 'the folder for the backup, which must be empty or not exist')
    .summary('copy all conversations to a folder')
    .description(
      'Copies all conversations of a swarm to a folder, with waiting inputs, questions, dead letters, scratch folders, ' +
        'logs and traces. The swarm may run, and does not wait. The backup has every input that was accepted before the ' +
        'command began. It does not have the files of the bundle. A damaged conversation is copied as it is, as are its images and files; ' +
        'then a warning is printed and the exit code is 1.',
    )
    .bundleOptions()
    .filesOnly('Back up a database with the tools of PostgreSQL, such as pg_dump.')
    .examples('gdn backup backups/monday --bundle my-swarm')
    .runs(backUpUnlessInterrupted);
}

/** Only a folder that has files of this backup is called incomplete: any other may have files of the user. */
function backUpUnlessInterrupted(options: BundleOptions, terminal: Terminal, target: string): Promise<Result> {
  let hasFiles = false;
  const onQuit = () => {
    const rest = `The backup was not cleaned up: ${target} is incomplete. Delete it.\n`;
    terminal.printError(hasFiles ? rest : 'The backup was interrupted.\n');
  };
  const onFile = () => void (hasFiles = true);
  return withInterrupt((signal) => backUp(options, terminal, target, { signal, onFile }), stopSignals, onQuit);
}

async function backUp(
  options: BundleOptions,
  terminal: Terminal,
  target: string,
  { signal, onFile }: { readonly signal: AbortSignal; readonly onFile: () => void },
): Promise<Result> {
  const [{ filePlaceOf }, { backUpSwarm }, { showCopyProgress }] = await Promise.all([
    import('../swarm/reach-swarm.ts'),
    import('../instance/back-up-swarm.ts'),
    import('../instance/show-copy-progress.ts'),
  ]);
  const place = await filePlaceOf(options);
  const show = showCopyProgress(terminal);
  const backup = await backUpSwarm(place, target, signal, (progress) => {
    onFile();
    show(progress);
  });
  const { conversations, files, bytes, startedAt, problems, skipped } = backup;
  for (const problem of problems) terminal.printError(`warn: ${harmlessLines(problem)}\n`);
  if (skipped.length > 0) terminal.printError(`note: ${describeSkipped(backup)}\n`);
  return {
    json: { backup: target, conversations, files, bytes, startedAt, problems, skipped: skipped.length },
    text: `Backed up ${count(conversations, 'conversation')} to ${target}: ${count(files, 'file')}, ${bytes} bytes.\n`,
    // A nonzero exit code tells a script that something in the backup is damaged.
    code: problems.length === 0 ? exitCodes.ok : exitCodes.failure,
  };
}

function describeSkipped({ skipped }: Pick<Backup, 'skipped'>): string {
  const what = 'Links, sockets and pipes are not in the backup';
  const more = skipped.length > 1 ? ` and ${skipped.length - 1} more` : '';
  return `${what}: ${harmlessLines(skipped[0] ?? '')}${more}.`;
}

export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
