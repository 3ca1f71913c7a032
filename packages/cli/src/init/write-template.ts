/**
 * Writes a bundle from a template. Templates are bundles in `packages/cli/templates` and `packages/cli/demo`. Two rules
 * hold:
 * 1. Existing files are never overwritten, even when another process writes there at the same time.
 * 2. No code of a bundle runs.
 */
import { statSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GoondanError } from '@goondan/types';
import type { Provider } from './choose-provider.ts';
import { findSchema, installedSchema } from './find-schema.ts';
import type { Template } from './templates.ts';

const cli = fileURLToPath(new URL('../..', import.meta.url));
const templates = join(cli, 'templates');

/** `folder` is an absolute path. Returns the written paths, relative to the folder. **Errors** — `E_INIT_FOLDER`. */
export async function writeTemplate(folder: string, template: Template, provider: Provider): Promise<string[]> {
  const sources = await listSources(template, provider);
  const schema = findSchema(folder);
  await makeEmptyFolder(folder);
  try {
    for (const [path, source] of sources) {
      const text = await readFile(source, 'utf8');
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text.replace(`$schema=${installedSchema}`, `$schema=${schema}`), {
        flag: 'wx',
      });
    }
  } catch (error) {
    throw cannotWrite(folder, error);
  }
  return [...sources.keys()];
}

/** Returns the files to copy, by their path in the new bundle. */
async function listSources(template: Template, provider: Provider): Promise<Map<string, string>> {
  const root = template === 'demo' ? join(cli, 'demo') : join(templates, template);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  // The template stores this file without its dot, because npm leaves `.gitignore` files out of packages.
  const sources = new Map([['.gitignore', join(templates, 'gitignore')]]);
  for (const file of files.toSorted()) sources.set(relative(root, file).replaceAll('\\', '/'), file);
  if (provider !== 'scripted') sources.set('model.yaml', join(templates, 'providers', `${provider}.yaml`));
  return sources;
}

/** Creates the folder. A folder that contains only `.git` counts as empty. */
async function makeEmptyFolder(folder: string): Promise<void> {
  let found: string[];
  try {
    await mkdir(folder, { recursive: true });
    found = await readdir(folder);
  } catch (error) {
    if (isFile(folder)) throw refuse(`"${folder}" is a file, not a folder.`);
    throw cannotWrite(folder, error);
  }
  const [first, ...others] = found.filter((name) => name !== '.git').toSorted();
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  throw refuse(`"${folder}" is not empty: it has "${first}"${more}. Nothing was written.`);
}

function refuse(message: string): GoondanError {
  return new GoondanError('E_INIT_FOLDER', message, {
    suggestion: 'Name a folder that is new or empty, as in `gdn init my-swarm`.',
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
}

function cannotWrite(folder: string, cause: unknown): GoondanError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new GoondanError('E_INIT_FOLDER', `No bundle can be written into "${folder}": ${reason}.`, {
    suggestion: 'Name a folder that you may write to, or make room for it.',
    cause,
  });
}
