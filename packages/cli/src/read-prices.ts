import { readFile } from 'node:fs/promises';
import { loadPrices, readPrices as parsePrices } from '@goondan/runtime/bundle';
import type { Prices } from '@goondan/types';
import { checkFile } from './check-file.ts';

/** Reads the file of `--prices`. **Errors** — `E_USAGE` when there is no such file, `E_PRICES_FILE`. */
export async function readPrices(file: string): Promise<Prices> {
  const { place, isPipe } = await checkFile(file);
  return isPipe ? parsePrices(await readFile(place, 'utf8'), file) : loadPrices(file);
}
