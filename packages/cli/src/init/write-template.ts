/**
 * Writes a bundle from a template. Templates are bundles in `packages/cli/templates` and `packages/cli/demo`; the files of
 * `packages/cli/templates/shared` are part of every bundle. Two rules hold:
 * 1. Existing files are never overwritten, even when another process writes there at the same time.
 * 2. No code of a bundle runs.
 */
import { statSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GoondanError } from '@goondan/types';
import { shorten } from '../shorten.ts';
import { firstModels, type Provider } from './choose-provider.ts';
import { findSchema, installedSchema } from './find-schema.ts';
import { nameSwarm } from './name-swarm.ts';
import type { Template } from './templates.ts';

const cli = fileURLToPath(new URL('../..', import.meta.url));
const templates = join(cli, 'templates');

/** Files for npm and editors. If the folder has one, it is kept. */
const settings = ['package.json', 'tsconfig.json'];
/** Names that may be in the folder, because git, npm or another package manager created them. */
const allowed = [...settings, '.git', 'node_modules', 'package-lock.json', 'bun.lock', 'pnpm-lock.yaml', 'yarn.lock'];

/**
 * `folder` is an absolute path. Returns the written paths, relative to the folder, and the settings of the person that
 * were kept. **Errors** — `E_INIT_FOLDER`.
 */
export async function writeTemplate(
  folder: string,
  template: Template,
  provider: Provider,
): Promise<{ readonly files: string[]; readonly kept: string[] }> {
  const sources = await listSources(template, provider);
  const schema = findSchema(folder);
  const found = await makeRoom(folder);
  const kept = settings.filter((name) => found.includes(name));
  for (const name of kept) sources.delete(name);
  try {
    for (const [path, source] of sources) {
      const text = await readFile(source, 'utf8');
      await mkdir(dirname(join(folder, path)), { recursive: true });
      const adapted = adapt(text, { provider, name: nameSwarm(folder) });
      await writeFile(join(folder, path), adapted.replace(`$schema=${installedSchema}`, `$schema=${schema}`), {
        flag: 'wx',
      });
    }
  } catch (error) {
    throw cannotWrite(folder, error);
  }
  return { files: [...sources.keys()], kept };
}

/** Returns the files to copy, by their path in the new bundle. */
async function listSources(template: Template, provider: Provider): Promise<Map<string, string>> {
  const root = template === 'demo' ? join(cli, 'demo') : join(templates, template);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  // The file is stored without its dot, because npm leaves `.gitignore` files out of packages.
  const sources = new Map([['.gitignore', join(templates, 'shared', 'gitignore')]]);
  for (const file of files.toSorted()) sources.set(relative(root, file).replaceAll('\\', '/'), file);
  for (const name of settings) sources.set(name, join(templates, 'shared', name));
  if (provider !== 'scripted') sources.delete('model.yaml');
  return sources;
}

/** Names the swarm, and the model of its agents. A template is a valid bundle: a lone agent, or agents with a Swarm. */
function adapt(text: string, { provider, name }: { readonly provider: Provider; readonly name: string }): string {
  const kind = text.includes('kind: Swarm') ? 'Swarm' : 'Agent';
  const named = text.replace(new RegExp(`^(kind: ${kind}\nmetadata: \\{ name: )\\S+`, 'm'), `$1${name}`);
  if (provider === 'scripted') return named;
  return named.replaceAll('model: Model/main', `model: ${firstModels[provider]}`).replace(/^\| `model\.yaml`.*\n/m, '');
}

/** Creates the folder, or returns the names in it if all of them are `allowed`. */
async function makeRoom(folder: string): Promise<string[]> {
  let found: string[];
  try {
    await mkdir(folder, { recursive: true });
    found = await readdir(folder);
  } catch (error) {
    const file = findFile(folder);
    if (file !== undefined) throw refuse(`"${file}" is a file, not a folder.`);
    throw cannotWrite(folder, error);
  }
  const [first, ...others] = found.filter((name) => !allowed.includes(name)).toSorted();
  if (first === undefined) return found;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  throw refuse(`"${folder}" is not empty: it has "${first}"${more}. Nothing was written.`);
}

function refuse(message: string): GoondanError {
  return new GoondanError('E_INIT_FOLDER', message, {
    suggestion:
      'Name a folder that is new or empty, as in `gdn init my-swarm`. Only files of npm, git and tsconfig.json may be in it.',
  });
}

/** Returns the part of the path that is a file, so that no folder can be there or below it. */
function findFile(folder: string): string | undefined {
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    try {
      const found = statSync(path, { throwIfNoEntry: false });
      if (found !== undefined) return found.isDirectory() ? undefined : path;
    } catch {
      // The path is below a file or too long, or it cannot be read: the folder above it may tell.
    }
  }
  return undefined;
}

function cannotWrite(folder: string, cause: unknown): GoondanError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const isTooLong = cause instanceof Error && 'code' in cause && cause.code === 'ENAMETOOLONG';
  const message = isTooLong
    ? `No bundle can be written into "${shorten(folder, MOST_SHOWN)}": the path is too long.`
    : `No bundle can be written into "${folder}": ${reason}.`;
  const suggestion = isTooLong
    ? 'Name a folder with a shorter path, as in `gdn init my-swarm`.'
    : 'Name a folder that you may write to, or make room for it.';
  return new GoondanError('E_INIT_FOLDER', message, { suggestion, cause });
}

/** The number of columns of a path that is too long. */
const MOST_SHOWN = 200;
