/** Changes the extensions of an agent for a replay: replaces their module files or leaves extensions out. */
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { GoondanError } from '@goondan/types';
import { closestName } from '../../config/closest-name.ts';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { DeclaredExtension } from '../../config/declared-extension.ts';

export interface ExtensionChanges {
  /** Replacement module files, by extension name. The config stays the same. */
  readonly swap?: Readonly<Record<string, string>>;
  /** Names of extensions to leave out. */
  readonly without?: readonly string[];
}

/** Returns the agent itself if nothing changes. **Errors** — `E_REPLAY_EXTENSION`, `E_REPLAY_SWAP`. */
export function changeExtensions(
  agent: DeclaredAgent,
  { swap = {}, without = [] }: ExtensionChanges,
  others: readonly DeclaredAgent[] = [],
): DeclaredAgent {
  const { extensions = [] } = agent;
  const names = namesOf(agent);
  const wanted = [...Object.keys(swap), ...without];
  if (wanted.length === 0) return agent;
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) throw unknownExtension(unknown, agent, others);
  const kept = extensions.filter(({ resource }) => !without.includes(resource.metadata.name));
  return { ...agent, extensions: kept.map((each) => swapModule(each, swap[each.resource.metadata.name])) };
}

function swapModule(declared: DeclaredExtension, file: string | undefined): DeclaredExtension {
  if (file === undefined) return declared;
  const { resource } = declared;
  const path = realFile(resource.metadata.name, file);
  const { digest: _, ...rest } = declared;
  return {
    ...rest,
    root: dirname(path),
    resource: { ...resource, spec: { ...resource.spec, entry: `./${basename(path)}` } },
  };
}

function realFile(name: string, file: string): string {
  try {
    if (statSync(file).isFile()) return realpathSync(file);
  } catch {
    // The error below is the same for every reason.
  }
  throw new GoondanError('E_REPLAY_SWAP', `Extension/${name} cannot be replaced: there is no file "${file}".`);
}

function namesOf({ extensions = [] }: DeclaredAgent): string[] {
  return extensions.map(({ resource }) => resource.metadata.name);
}

function unknownExtension(name: string, agent: DeclaredAgent, others: readonly DeclaredAgent[]): GoondanError {
  const names = namesOf(agent);
  const has = names.length === 0 ? 'It has none.' : `It has: ${names.map((each) => `Extension/${each}`).join(', ')}.`;
  const message = `The turn is one of agent "${agent.agentName}", which has no Extension/${name}. ${has}`;
  const other = others.find((each) => namesOf(each).includes(name));
  const closest = closestName(name, names);
  return new GoondanError('E_REPLAY_EXTENSION', message, {
    ...(names.length > 0 ? {} : { suggestion: 'Replay the turn without this option.' }),
    ...(closest === undefined ? {} : { suggestion: `Did you mean Extension/${closest}?` }),
    ...(other === undefined
      ? {}
      : {
          suggestion: `Replay a turn of agent "${other.agentName}": \`gdn trace --agent ${other.agentName}\` lists them.`,
        }),
  });
}
