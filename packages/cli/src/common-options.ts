/** Options that many commands share. */
import { homedir } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { GoondanError } from '@goondan/types';

export interface CommonOptions {
  readonly json?: boolean;
  readonly stateRoot?: string;
}

export interface BundleOptions extends CommonOptions {
  readonly bundle?: string;
  readonly swarm?: string;
}

/** The options of a command that works on some conversations. */
export interface InstanceOptions extends BundleOptions {
  readonly agent?: string;
  readonly instance?: string;
}

/** Adds the options of a command that works on a bundle. */
export function addBundleOptions(command: Command): Command {
  const takesFolder = command.registeredArguments.some((argument) => argument.name() === 'folder');
  return addCommonOptions(
    command
      .option(
        '--bundle <folder>',
        takesFolder ? 'the same as the argument' : 'the folder of the bundle (default: the current one)',
      )
      .option('--swarm <name>', 'the swarm, when the bundle has several'),
  );
}

export function addCommonOptions(command: Command): Command {
  return command
    .option('--state-root <folder>', 'the folder for conversations (default: $GOONDAN_STATE_ROOT, else ~/.goondan)')
    .option('--json', 'print JSON instead of text');
}

/** Adds the option of a command that may lock the workspace. */
export function addFlockOption(command: Command): Command {
  return command.option(
    '--no-flock',
    'do not lock the workspace: for file systems without flock, when nothing else can start this swarm',
  );
}

/** Returns the bundle folder: the command's argument, `--bundle`, or the current folder. Throws `E_USAGE`. */
export function bundleFolder(argument: string | undefined, { bundle }: BundleOptions): string {
  if (argument !== undefined && bundle !== undefined && argument !== bundle) {
    const suggestion = 'Name it once, as the argument or with `--bundle`.';
    throw new GoondanError('E_USAGE', `Two bundles are named: "${argument}" and "${bundle}".`, { suggestion });
  }
  return argument ?? bundle ?? '.';
}

/** Returns the conversations that the options select, in the form that the swarm's methods take. */
export function addressIn({ agent, instance }: InstanceOptions) {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(instance === undefined ? {} : { instanceKey: instance }),
  };
}

/** Reads a whole number from 1 to `most`. */
export function numberUpTo(most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= 1 && number <= most) return number;
    throw new InvalidArgumentError(`It is not a number from 1 to ${most}.`);
  };
}

/** Returns the values from which the runtime's `stateRoot` chooses. */
export function stateRootChoice({ stateRoot }: CommonOptions) {
  const environment = process.env['GOONDAN_STATE_ROOT'];
  return {
    home: homedir(),
    ...(stateRoot === undefined ? {} : { option: stateRoot }),
    ...(environment === undefined ? {} : { environment }),
  };
}
