/**
 * Checks the files that a resource names: they must exist, be inside the folder, parse, and import only installed
 * packages.
 */
import { statSync } from 'node:fs';
import { extname } from 'node:path';
import { type ErrorCode, GoondanError } from '@goondan/types';
import { resolveEntry } from '../../resolve-entry.ts';
import type { LoadedResource } from '../bundle.ts';
import { errorIn, type Finding, warningIn } from '../bundle-problem.ts';
import type { Path } from '../place.ts';
import type { Scanner } from './open-scanner.ts';
import { moduleLoaders } from './scan-module.ts';
import { readTextFile, refusalText } from './text-file.ts';

const LARGEST_PROMPT = 1024 * 1024;

/** Returns the resource, completed with the contents of its files, and adds their problems to `findings`. */
export async function inspectFiles(
  loaded: LoadedResource,
  scanner: Scanner,
  findings: Finding[],
): Promise<LoadedResource> {
  switch (loaded.kind) {
    case 'Tool':
    case 'Extension':
    case 'Connector':
      return inspectEntry(loaded, scanner, findings);
    case 'Agent':
      return inspectPrompt(loaded, findings);
    case 'Model':
      findings.push(...(await inspectCassette(loaded)));
      return loaded;
    case 'Swarm':
    case 'Connection':
    case 'Package':
      return loaded;
  }
}

const loadErrors = { Tool: 'E_TOOL_LOAD', Extension: 'E_EXT_LOAD', Connector: 'E_CONNECTOR_LOAD' } as const;

async function inspectEntry(
  loaded: LoadedResource & { kind: keyof typeof loadErrors },
  scanner: Scanner,
  findings: Finding[],
): Promise<LoadedResource> {
  const path: Path = ['spec', 'entry'];
  const { entry } = loaded.resource.spec;
  const code = loadErrors[loaded.kind];
  const found = await findFile(loaded, entry, path, code);
  if (typeof found !== 'string') {
    findings.push(found);
    return loaded;
  }
  if (!Object.hasOwn(moduleLoaders, extname(found))) {
    findings.push(errorIn(loaded, path, code, `"${entry}" is not a TypeScript or JavaScript module.`));
    return loaded;
  }
  const { digest, problems } = await scanner.scan(found, loaded.folder);
  for (const { type, file, text, isOptional } of problems) {
    const report = isOptional ? warningIn : errorIn;
    if (type === 'syntax') findings.push(report(loaded, path, code, `${file} does not parse: ${text}.`));
    else if (type === 'limit') findings.push(report(loaded, path, 'E_BUNDLE_LIMIT', `"${entry}" ${text}.`));
    else {
      const message = `${file} imports "${text}", which is not ${text.startsWith('.') ? 'there' : 'installed'}.`;
      findings.push(report(loaded, path, 'E_IMPORT_MISSING', message));
    }
  }
  return { ...loaded, digest };
}

async function inspectPrompt(loaded: LoadedResource & { kind: 'Agent' }, findings: Finding[]): Promise<LoadedResource> {
  const { prompt } = loaded.resource.spec;
  if (prompt?.systemRef === undefined) return loaded;
  const path: Path = ['spec', 'prompt', 'systemRef'];
  if (prompt.system !== undefined) {
    const message = 'spec.prompt has both system and systemRef.';
    findings.push(errorIn(loaded, path, 'E_RESOURCE_INVALID', message, 'Keep one of them.', 'key'));
    return loaded;
  }
  const found = await findFile(loaded, prompt.systemRef, path, 'E_PROMPT_FILE');
  if (typeof found !== 'string') {
    findings.push(found);
    return loaded;
  }
  const read = readTextFile(found, LARGEST_PROMPT);
  if (read.type === 'text') return { ...loaded, prompt: read.text };
  const why = read.type === 'refused' ? refusalText(read.reason, LARGEST_PROMPT) : 'is not UTF-8 text';
  findings.push(errorIn(loaded, path, 'E_PROMPT_FILE', `"${prompt.systemRef}" ${why}.`));
  return loaded;
}

async function inspectCassette(loaded: LoadedResource & { kind: 'Model' }): Promise<Finding[]> {
  const { spec } = loaded.resource;
  if (spec.provider !== 'cassette') return [];
  const { mode, file, upstream } = spec.options;
  const found = await findFile(loaded, file, ['spec', 'options', 'file'], 'E_CASSETTE_FILE');
  const isNew = mode === 'record' && typeof found !== 'string' && found.problem.code === 'E_CASSETTE_FILE';
  const findings = typeof found === 'string' || isNew ? [] : [found];
  if (mode === 'record' && upstream === undefined) {
    const message = 'spec.options.upstream is missing; it must name the model to record.';
    findings.push(errorIn(loaded, ['spec', 'options', 'upstream'], 'E_RESOURCE_INVALID', message));
  }
  return findings;
}

/** Returns the real path of a file, which must be inside the folder of the resource. */
async function findFile(loaded: LoadedResource, name: string, path: Path, code: ErrorCode): Promise<string | Finding> {
  try {
    const file = await resolveEntry(loaded.folder, name, path.join('.'));
    if (file === undefined) return errorIn(loaded, path, code, `There is no file "${name}".`);
    if (!statSync(file).isFile()) return errorIn(loaded, path, code, `"${name}" is not a regular file.`);
    return file;
  } catch (error) {
    if (GoondanError.is(error)) return errorIn(loaded, path, error.code, error.message, error.suggestion);
    return errorIn(loaded, path, code, `"${name}" cannot be read.`);
  }
}
