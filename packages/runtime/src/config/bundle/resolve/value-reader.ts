/**
 * Declared values, looked up. What was found is a secret of whoever asked for it; what was not is remembered, so that
 * everything that is missing can be said at once.
 */
import type { JsonObject } from '@goondan/types';
import { mergeConfig } from '../../merge-config.ts';
import { isPlainObject } from '../../../json/copy-json.ts';
import type { ValueSource } from '../kinds/fields.ts';
import type { Path } from '../place.ts';
import { type Environment, fillConfig, lookUp } from '../values.ts';

export class ValueReader {
  /** Everything that was found for this reader. */
  readonly secrets = new Set<string>();
  readonly environment: Environment;
  readonly #environmentFile: Environment;
  /** `VARIABLE (who needs it)`; shared by the readers of one swarm. */
  readonly missing: Set<string>;

  constructor(environment: Environment, environmentFile: Environment, missing = new Set<string>()) {
    this.environment = environment;
    this.#environmentFile = environmentFile;
    this.missing = missing;
  }

  /** The same values for somebody else. */
  another(): ValueReader {
    return new ValueReader(this.environment, this.#environmentFile, this.missing);
  }

  read(source: ValueSource, who: string): string {
    if (typeof source === 'string') return source;
    return 'value' in source ? source.value : this.variable(source.valueFrom.env, who);
  }

  readEach(sources: Readonly<Record<string, ValueSource>>, who: string): Record<string, string> {
    return Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, this.read(source, who)]));
  }

  variable(name: string, who: string): string {
    const found = lookUp(name, this.environment, this.#environmentFile);
    if (found === undefined) this.missing.add(`${name} (${who})`);
    else this.secrets.add(found);
    return found ?? '';
  }

  /** `over` on top of `under`; a variable that is replaced need not be set. */
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
    // A list or a single value takes the place of everything that was there.
    if (!isPlainObject(here) || Object.hasOwn(here, 'valueFrom')) return true;
    if (!Object.hasOwn(here, key)) return false;
    here = here[key];
  }
  return true;
}
