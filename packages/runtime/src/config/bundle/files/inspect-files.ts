/**
 * Checks the files that a resource names: they must exist, be inside the folder, parse, and import only installed
 * packages.
 */
import { statSync } from 'node:fs';
import { extname } from 'node:path';
import { type ErrorCode, GoondanError } from '@goondan/types';
import { resolveEntry } from '../../resolve-entry.ts';
import type { LoadedResource } from '../bundle.ts';
import { errorAt, type Finding, warningAt } from '../bundle-problem.ts';
import type { Path } from '../place.ts';
import type { Scanner } from './open-scanner.ts';
import { moduleLoaders } from './scan-module.ts';
import { readTextFile, refusalText } from './text-file.ts';

const LARGEST_PROMPT = 1024 * 1024;

export interface InspectedFiles {
  /** The resource, completed with the contents of its files. */
  readonly loaded: LoadedResource;
  readonly findings: readonly Finding[];
}

export async function inspectFiles(loaded: LoadedResource, scanner: Scanner): Promise<InspectedFiles> {
  switch (loaded.kind) {
    case 'Tool':
      return inspectEntry(loaded, loaded.resource.spec.entry, 'E_TOOL_LOAD', scanner);
    case 'Extension':
      return inspectEntry(loaded, loaded.resource.spec.entry, 'E_EXT_LOAD', scanner);
    case 'Connector':
      return inspectEntry(loaded, loaded.resource.spec.entry, 'E_CONNECTOR_LOAD', scanner);
    case 'Agent':
      return inspectPrompt(loaded);
    case 'Model':
      return inspectCassette(loaded);
    case 'Swarm':
    case 'Connection':
    case 'Package':
      return { loaded, findings: [] };
  }
}

async function inspectEntry(
  loaded: LoadedResource,
  entry: string,
  code: ErrorCode,
  scanner: Scanner,
): Promise<InspectedFiles> {
  const path: Path = ['spec', 'entry'];
  const found = await findFile(loaded, entry, path, code);
  if (typeof found !== 'string') return { loaded, findings: [found] };
  if (!Object.hasOwn(moduleLoaders, extname(found))) {
    return { loaded, findings: [refuse(loaded, path, code, `"${entry}" is not a TypeScript or JavaScript module.`)] };
  }
  const { digest, problems } = await scanner.scan(found, loaded.folder);
  const findings = problems.map(({ type, file, text, isOptional }) => {
    if (type === 'syntax') return refuse(loaded, path, code, `${file} does not parse: ${text}.`);
    const report = isOptional ? warningAt : errorAt;
    const [kind, message]: [ErrorCode, string] =
      type === 'limit'
        ? ['E_BUNDLE_LIMIT', `"${entry}" ${text}.`]
        : [
            'E_IMPORT_MISSING',
            `${file} imports "${text}", which is not ${text.startsWith('.') ? 'there' : 'installed'}.`,
          ];
    return report(loaded.document.placeOf(path), kind, message, { resource: loaded.identity });
  });
  return { loaded: { ...loaded, digest }, findings };
}

async function inspectPrompt(loaded: LoadedResource & { kind: 'Agent' }): Promise<InspectedFiles> {
  const { prompt } = loaded.resource.spec;
  if (prompt?.systemRef === undefined) return { loaded, findings: [] };
  const path: Path = ['spec', 'prompt', 'systemRef'];
  if (prompt.system !== undefined) {
    const message = 'spec.prompt has both system and systemRef.';
    const suggestion = 'Keep one of them.';
    const place = loaded.document.placeOf(path, 'key');
    return {
      loaded,
      findings: [errorAt(place, 'E_RESOURCE_INVALID', message, { resource: loaded.identity, suggestion })],
    };
  }
  const found = await findFile(loaded, prompt.systemRef, path, 'E_PROMPT_FILE');
  if (typeof found !== 'string') return { loaded, findings: [found] };
  const read = readTextFile(found, LARGEST_PROMPT);
  if (read.type === 'text') return { loaded: { ...loaded, prompt: read.text }, findings: [] };
  const why = read.type === 'refused' ? refusalText(read.reason, LARGEST_PROMPT) : 'is not UTF-8 text';
  return { loaded, findings: [refuse(loaded, path, 'E_PROMPT_FILE', `"${prompt.systemRef}" ${why}.`)] };
}

async function inspectCassette(loaded: LoadedResource & { kind: 'Model' }): Promise<InspectedFiles> {
  const { spec } = loaded.resource;
  if (spec.provider !== 'cassette') return { loaded, findings: [] };
  const { mode, file, upstream } = spec.options;
  const found = await findFile(loaded, file, ['spec', 'options', 'file'], 'E_CASSETTE_FILE');
  const isNew = mode === 'record' && typeof found !== 'string' && found.problem.code === 'E_CASSETTE_FILE';
  const findings = typeof found === 'string' || isNew ? [] : [found];
  if (mode === 'record' && upstream === undefined) {
    const message = 'spec.options.upstream is missing; it must name the model to record.';
    findings.push(refuse(loaded, ['spec', 'options', 'upstream'], 'E_RESOURCE_INVALID', message));
  }
  return { loaded, findings };
}

/** Returns the real path of a file, which must be inside the folder of the resource. */
async function findFile(loaded: LoadedResource, name: string, path: Path, code: ErrorCode): Promise<string | Finding> {
  try {
    const file = await resolveEntry(loaded.folder, name, path.join('.'));
    if (file === undefined) return refuse(loaded, path, code, `There is no file "${name}".`);
    if (!statSync(file).isFile()) return refuse(loaded, path, code, `"${name}" is not a regular file.`);
    return file;
  } catch (error) {
    if (GoondanError.is(error)) return refuse(loaded, path, error.code, error.message, error.suggestion);
    return refuse(loaded, path, code, `"${name}" cannot be read.`);
  }
}

function refuse(loaded: LoadedResource, path: Path, code: ErrorCode, message: string, suggestion?: string): Finding {
  return errorAt(loaded.document.placeOf(path), code, message, { resource: loaded.identity, suggestion });
}
