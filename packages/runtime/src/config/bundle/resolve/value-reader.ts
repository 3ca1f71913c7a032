/**
 * Looks up declared values. Each value found is added to the secrets of the reader. Missing variables are collected, so
 * that one error names all of them, and a node knows to which part they belong.
 */
import type { JsonObject } from '@goondan/types';
import { mergeConfig } from '../../merge-config.ts';
import { isPlainObject } from '../../../json/copy-json.ts';
import type { ValueSource } from '../kinds/fields.ts';
import type { Path } from '../place.ts';
import type { Environment } from '../../variable-name.ts';
import { fillConfig, lookUp } from '../values.ts';

export class ValueReader {
  /** Every value that this reader found. */
  readonly secrets = new Set<string>();
  /** Every variable that this reader missed, as `VARIABLE (resource that needs it)`. */
  readonly missing = new Set<string>();

  constructor(
    readonly environment: Environment,
    private readonly environmentFile: Environment,
  ) {}

  /** Returns a reader with the same sources, which has found and missed nothing yet. */
  another(): ValueReader {
    return new ValueReader(this.environment, this.environmentFile);
  }

  read(source: ValueSource, who: string): string {
    return typeof source === 'string' ? source : this.variable(source.valueFrom.env, who);
  }

  readEach(sources: Readonly<Record<string, ValueSource>>, who: string): Record<string, string> {
    return Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, this.read(source, who)]));
  }

  variable(name: string, who: string): string {
    const found = lookUp(name, this.environment, this.environmentFile);
    if (found === undefined) this.missing.add(`${name} (${who})`);
    else this.secrets.add(found);
    return found ?? '';
  }

  /** Merges `over` over `under` and fills in values. A variable in `under` that `over` replaces need not be set. */
  config(under: JsonObject, over: JsonObject, who: string): JsonObject {
    const filledUnder = fillConfig(under, (name, path) => (isReplaced(over, path) ? '' : this.variable(name, who)));
    return mergeConfig(
      filledUnder,
      fillConfig(over, (name) => this.variable(name, who)),
    );
  }
}

function isReplaced(over: JsonObject, path: Path): boolean {
  let here: unknown = over;
  for (const key of path) {
    // A list or a single value replaces everything below it.
    if (!isPlainObject(here) || Object.hasOwn(here, 'valueFrom')) return true;
    if (!Object.hasOwn(here, key)) return false;
    here = here[key];
  }
  return true;
}
