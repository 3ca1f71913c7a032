/** Lists the texts in the settings of a bundle, because a text may name a file that an existing part uses. */
import { isPlainObject } from '../../../json/copy-json.ts';
import type { LoadedResource } from '../bundle.ts';

export interface Setting {
  /** `Kind/name` of the resource. */
  readonly identity: string;
  readonly text: string;
  /** True if the text is a part of a command that a process runs. */
  readonly isCommand: boolean;
}

/** Fields whose texts are for a model or for people, and `entry`, whose module is followed anyway. */
const skipped: readonly string[] = ['prompt', 'description', 'exports', 'configSchema', 'script', 'entry'];
const commands: readonly string[] = ['command', 'args'];

export function listSettings(resources: readonly LoadedResource[]): Setting[] {
  return resources.flatMap(({ identity, kind, resource }) => {
    // The policy of a swarm names the files that agents may change.
    const spec = kind === 'Swarm' ? { ...resource.spec, policy: undefined } : resource.spec;
    return [...walk(spec, false)].map(({ text, isCommand }) => ({ identity, text, isCommand }));
  });
}

function* walk(value: unknown, isCommand: boolean): Generator<{ readonly text: string; readonly isCommand: boolean }> {
  if (typeof value === 'string') yield { text: value, isCommand };
  else if (Array.isArray(value)) for (const item of value) yield* walk(item, isCommand);
  else if (isPlainObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (!skipped.includes(key)) yield* walk(item, isCommand || commands.includes(key));
    }
  }
}
