/** Lists the texts in the settings of a bundle, because a text may name a file or a folder that an existing part uses. */
import { posix, relative, resolve } from 'node:path';
import { isPlainObject } from '../../../json/copy-json.ts';
import { foldPath } from '../../../workspace/changesets/find-path-problem.ts';
import type { LoadedResource } from '../bundle.ts';
import { parseReference, referenceOf, type ListItem } from '../references.ts';

export interface Setting {
  /** `Kind/name` of the resource. */
  readonly identity: string;
  readonly text: string;
  /** True if the text is a part of a command that a process runs. */
  readonly isCommand: boolean;
  /** Folders that the text may name, folded and relative to the bundle. Only extensions, hooks and connectors have any. */
  readonly folders: readonly string[];
}

/** Fields whose texts are for a model or for people, and `entry`, whose module is followed anyway. */
const skipped: readonly string[] = ['prompt', 'description', 'exports', 'configSchema', 'script', 'entry'];
const commands: readonly string[] = ['command', 'args'];
/** Its settings name folders of skills, which agents may change. */
const SKILLS = 'skills';

export function listSettings(resources: readonly LoadedResource[], bundleFolder: string): Setting[] {
  return resources.flatMap(({ identity, ...loaded }) =>
    [...partsOf(loaded)].flatMap(({ value, mayNameFolders }) =>
      [...walk(value, false)].map(({ text, isCommand }) => ({
        identity,
        text,
        isCommand,
        folders: mayNameFolders ? foldersIn(text, bundleFolder) : [],
      })),
    ),
  );
}

interface SettingsPart {
  readonly value: unknown;
  readonly mayNameFolders: boolean;
}

function* partsOf({
  kind,
  name,
  resource,
}: Pick<LoadedResource, 'kind' | 'name' | 'resource'>): Generator<SettingsPart> {
  const isOwn = kind === 'Connector' || kind === 'Connection' || (kind === 'Extension' && name !== SKILLS);
  for (const [field, value] of Object.entries(resource.spec)) {
    // The policy of a swarm names the files that agents may change.
    if (kind === 'Swarm' && field === 'policy') continue;
    if (field === 'extensions') yield* itemsOf(value as readonly ListItem[]);
    else
      yield { value: { [field]: value as unknown }, mayNameFolders: isOwn || (kind === 'Agent' && field === 'hooks') };
  }
}

function* itemsOf(items: readonly ListItem[]): Generator<SettingsPart> {
  for (const item of items) {
    const mayNameFolders = parseReference(referenceOf(item))?.name !== SKILLS;
    if (typeof item === 'object' && 'config' in item) yield { value: item.config, mayNameFolders };
  }
}

function* walk(value: unknown, isCommand: boolean): Generator<Pick<Setting, 'text' | 'isCommand'>> {
  if (typeof value === 'string') yield { text: value, isCommand };
  else if (Array.isArray(value)) for (const item of value) yield* walk(item, isCommand);
  else if (isPlainObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (!skipped.includes(key)) yield* walk(item, isCommand || commands.includes(key));
    }
  }
}

/** A text of several words names a folder only with a `/`. A pattern such as `rules/*.md` names the folder before it. */
function foldersIn(text: string, bundleFolder: string): string[] {
  if (text.includes('://')) return [];
  const words = text.split(/[\s"'=;,|&()]+/).filter((word) => word !== '');
  return words.flatMap((word) => {
    if (words.length > 1 && !word.includes('/')) return [];
    const parts = relative(bundleFolder, resolve(bundleFolder, word)).split('/');
    const wildcard = parts.findIndex((part) => /[*?[{]/.test(part));
    const folder = posix.join(...parts.slice(0, wildcard < 0 ? undefined : wildcard));
    return folder === '.' || parts[0] === '..' ? [] : [foldPath(folder)];
  });
}
