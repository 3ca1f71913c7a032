/**
 * Checks the files that a resource names: they must exist, be inside the folder, parse, and import only installed
 * packages.
 */
import { extname } from 'node:path';
import { errorCatalogue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import type { LoadedResource } from '../bundle.ts';
import { errorIn, type Finding, warningIn } from '../bundle-problem.ts';
import { kindOf } from '../kinds/parse-resource.ts';
import type { Path } from '../place.ts';
import { type FileOwner, findFile } from './find-file.ts';
import type { Scanner } from './open-scanner.ts';
import { inspectCompat } from './inspect-compat.ts';
import { inspectOutput } from './inspect-output.ts';
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
      if (loaded.kind === 'Extension') findings.push(...inspectCompat(loaded, loaded.resource.spec));
      const { entry } = loaded.resource.spec;
      return { ...loaded, ...(await inspectEntry(loaded, { kind: loaded.kind, entry }, scanner, findings)) };
    case 'Agent':
      const { prompt = {}, output } = loaded.resource.spec;
      return {
        ...loaded,
        ...(await inspectPrompt(loaded, prompt, findings)),
        ...(await inspectOutput(loaded, output, findings)),
      };
    case 'Model':
      findings.push(...(await inspectCassette(loaded)));
      return loaded;
    case 'Swarm':
    case 'Connection':
    case 'Package':
      return loaded;
  }
}

/** Like `inspectFiles`, for a document that is not a resource: inspects its module and its prompt, if it names them. */
export async function inspectBroken(broken: FileOwner, scanner: Scanner, findings: Finding[]): Promise<void> {
  const { value } = broken.document;
  if (!isPlainObject(value) || !isPlainObject(value.spec)) return;
  const kind = kindOf(value);
  const { entry, prompt, output } = value.spec;
  if ((kind === 'Tool' || kind === 'Extension' || kind === 'Connector') && isName(entry)) {
    await inspectEntry(broken, { kind, entry }, scanner, findings);
  }
  if (kind === 'Agent' && isPlainObject(prompt) && isName(prompt.systemRef)) {
    await inspectPrompt(broken, { system: prompt.system, systemRef: prompt.systemRef }, findings);
  }
  if (kind === 'Agent' && isPlainObject(output) && isName(output.schemaRef)) {
    await inspectOutput(broken, { schema: output.schema, schemaRef: output.schemaRef }, findings);
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const loadErrors = { Tool: 'E_TOOL_LOAD', Extension: 'E_EXT_LOAD', Connector: 'E_CONNECTOR_LOAD' } as const;

async function inspectEntry(
  loaded: FileOwner,
  { kind, entry }: { readonly kind: keyof typeof loadErrors; readonly entry: string },
  scanner: Scanner,
  findings: Finding[],
): Promise<Pick<LoadedResource, 'digest' | 'files' | 'isLazy'>> {
  const path: Path = ['spec', 'entry'];
  const code = loadErrors[kind];
  const found = await findFile(loaded, entry, path, code);
  if (typeof found !== 'string') {
    findings.push(found);
    return {};
  }
  if (!Object.hasOwn(moduleLoaders, extname(found))) {
    findings.push(errorIn(loaded, path, code, `"${entry}" is not a TypeScript or JavaScript module.`));
    return {};
  }
  const { digest, files, isLazy, problems } = await scanner.scan(found, loaded.folder);
  for (const { type, file, text, isOptional } of problems) {
    const report = isOptional ? warningIn : errorIn;
    if (type === 'syntax') findings.push(report(loaded, path, code, `${file} does not parse: ${text}.`));
    else if (type === 'limit') findings.push(report(loaded, path, 'E_BUNDLE_LIMIT', `"${entry}" ${text}.`));
    else {
      const message = `${file} imports "${text}", which is not ${text.startsWith('.') ? 'there' : 'installed'}.`;
      const { suggestion } = errorCatalogue.E_IMPORT_MISSING;
      findings.push(report(loaded, path, isOptional ? 'E_IMPORT_MISSING' : code, message, suggestion));
    }
  }
  return { digest, files, isLazy };
}

async function inspectPrompt(
  loaded: FileOwner,
  { system, systemRef }: { readonly system?: unknown; readonly systemRef?: string | undefined },
  findings: Finding[],
): Promise<Pick<LoadedResource, 'prompt'>> {
  if (systemRef === undefined) return {};
  const path: Path = ['spec', 'prompt', 'systemRef'];
  if (system !== undefined) {
    const message = 'spec.prompt has both system and systemRef.';
    findings.push(errorIn(loaded, path, 'E_RESOURCE_INVALID', message, 'Keep one of them.', 'key'));
    return {};
  }
  const found = await findFile(loaded, systemRef, path, 'E_PROMPT_FILE');
  if (typeof found !== 'string') {
    findings.push(found);
    return {};
  }
  const read = readTextFile(found, LARGEST_PROMPT);
  if (read.type === 'text') return { prompt: read.text };
  const why = read.type === 'refused' ? refusalText(read.reason, LARGEST_PROMPT) : 'is not UTF-8 text';
  findings.push(errorIn(loaded, path, 'E_PROMPT_FILE', `"${systemRef}" ${why}.`));
  return {};
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
