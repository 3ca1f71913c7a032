import { loadPrices, readPrices as parsePrices } from '@goondan/runtime/bundle';
import type { Prices } from '@goondan/types';
import { checkTextFile } from './check-file.ts';

/** Reads the file of `--prices`. **Errors** — `E_USAGE` when there is no such file, `E_PRICES_FILE`. */
export async function readPrices(file: string): Promise<Prices> {
  const text = await checkTextFile(file);
  return text === undefined ? loadPrices(file) : parsePrices(text, file);
}
