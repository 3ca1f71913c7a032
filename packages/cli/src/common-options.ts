/** Options that many commands share. */
import { homedir } from 'node:os';
import { InvalidArgumentError } from 'commander';
import { GoondanError } from '@goondan/types';
import type { ClusterAccess } from './cluster/cluster-access.ts';

export interface CommonOptions {
  readonly json?: boolean;
  readonly stateRoot?: string;
}

/** The options of a command that may work on a swarm in a store that many nodes share. */
export interface StoreOptions {
  /** The value of `--store`. */
  readonly store?: string;
  /** The access to the store that `--store` or `GOONDAN_STORE` names; absent for swarms on files. */
  readonly cluster?: ClusterAccess;
}

export interface BundleOptions extends CommonOptions, StoreOptions {
  readonly bundle?: string;
  readonly swarm?: string;
}

/** The options of a command that works on some conversations. */
export interface InstanceOptions extends BundleOptions {
  readonly agent?: string;
  readonly instance?: string;
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

/** Returns the possible values of the state root, for the runtime's function `stateRoot`, which chooses one. */
export function stateRootChoice({ stateRoot }: CommonOptions) {
  const environment = process.env['GOONDAN_STATE_ROOT'];
  return {
    home: homedir(),
    ...(stateRoot === undefined ? {} : { option: stateRoot }),
    ...(environment === undefined ? {} : { environment }),
  };
}
