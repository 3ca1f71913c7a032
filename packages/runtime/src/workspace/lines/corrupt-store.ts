import { GoondanError } from '@goondan/types';
import type { StorePorts } from '../store-ports.ts';
import { keepAside } from './keep-aside.ts';

/** Returns true if an error reports a damaged file. */
export function isCorrupt(error: unknown): error is GoondanError {
  return GoondanError.is(error) && error.code === 'E_STORE_CORRUPT';
}

/** Copies the damaged file aside and returns the error to throw. The original file stays unchanged. */
export async function corruptStore(ports: StorePorts, path: string, problem: string): Promise<GoondanError> {
  let where: string;
  try {
    const copy = await keepAside(ports.fs, ports.clock, path);
    where = copy ? `a copy is in ${copy}` : 'there is no such file';
  } catch (error) {
    where = `no copy could be made: ${error instanceof Error ? error.message : String(error)}`;
  }
  return new GoondanError('E_STORE_CORRUPT', `${path} is damaged: ${problem} (${where})`);
}
