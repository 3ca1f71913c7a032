// Tests many random changes of a valid bundle.
import { expect, test } from 'bun:test';
import { errorCatalogue, GoondanError } from '@goondan/types';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { samples } from '../../../../../test/samples.ts';
import { completeBundle, completeEnvironment, temporaryBundle } from '../../testing/temporary-bundle.ts';
import { type Random, seededRandom } from '../../workspace/simulation/seeded-random.ts';
import type { Bundle } from './bundle.ts';
import { loadBundle } from './load-bundle.ts';
import { resolveSwarm } from './resolve/resolve-swarm.ts';

const TIMES = samples(1_000, 40);
const files = ['goondan.yaml', 'agents.yaml', 'parts.yml'];
const environment = completeEnvironment;

test(`R-04 ${TIMES} spoilt bundles: no crash, and every error has a code and a place`, async () => {
  using bundle = temporaryBundle(completeBundle);
  let refused = 0;
  for (let seed = 0; seed < TIMES; seed += 1) {
    const spoilt = spoil(seed);
    for (const [file, text] of Object.entries(spoilt)) writeFileSync(join(bundle.folder, file), text);
    const loaded = await loadBundle(bundle.folder, { environment }).catch((error: unknown) => {
      throw new Error(`seed ${seed}`, { cause: error });
    });
    expect(findFaults(loaded, spoilt), `seed ${seed}`).toEqual([]);
    if (!loaded.valid) refused += 1;
  }
  // Most of these changes make the bundle invalid. If every bundle were valid, the test would prove nothing.
  expect(refused).toBeGreaterThan(TIMES / 2);
}, 120_000);

/** Lists the faults of a loaded bundle. A fault is a property that no loaded bundle may have. */
function findFaults(bundle: Bundle, written: Record<string, string>): string[] {
  const faults: string[] = [];
  if (bundle.valid !== (bundle.errors.length === 0)) faults.push('it is valid with errors, or not without');
  for (const { code, message, file, line, column, suggestion = '' } of [...bundle.errors, ...bundle.warnings]) {
    const shown = `${code} ${file}:${line}:${column} ${message}`;
    if (!Object.hasOwn(errorCatalogue, code)) faults.push(`no code: ${shown}`);
    const lines = written[file]?.split('\n').length ?? 0;
    if (!(line >= 1 && line <= lines + 1 && column >= 1)) faults.push(`no place: ${shown}`);
    if (/undefined|\[object |^\s*at .*:\d+:\d+/m.test(message) || message.includes('\n'))
      faults.push(`no message: ${shown}`);
    if (!/[.?]$/.test(suggestion)) faults.push(`no suggestion: ${shown}`);
  }
  try {
    resolveSwarm(bundle, { environment });
  } catch (error) {
    if (!(error instanceof GoondanError)) faults.push(`resolving: ${String(error)}`);
    else if (bundle.valid !== (error.code !== 'E_BUNDLE_INVALID')) faults.push(`resolving: ${error.code}`);
    else if (error.code === 'E_SWARM_PLAN') faults.push(`valid, but no plan: ${error.message}`);
  }
  return faults;
}

function spoil(seed: number): Record<string, string> {
  const random = seededRandom(seed);
  const written = Object.fromEntries(files.map((file) => [file, completeBundle[file] ?? '']));
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    const file = files[random.below(files.length)] ?? '';
    const text = written[file] ?? '';
    written[file] = random.below(3) === 0 ? spoilText(text, random) : spoilValue(text, random);
  }
  return written;
}

const scraps = [
  '[',
  '{',
  '"',
  "'",
  ': ',
  '- ',
  '&a ',
  '*a ',
  '!x ',
  '---\n',
  '\t',
  '|\n',
  '%YAML 1.1\n',
  '\u{0}',
  '\u{FEFF}',
  '한',
  '\u{D800}',
  '#',
  '<<: ',
  '__proto__: 1\n',
];

function spoilText(text: string, random: Random): string {
  const at = random.below(text.length);
  const length = 1 + random.below(20);
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at) + text.slice(at + length);
    case 1:
      return text.slice(0, at) + (scraps[random.below(scraps.length)] ?? '') + text.slice(at);
    case 2:
      return text.slice(0, at) + text.slice(at, at + length).repeat(2 + random.below(50)) + text.slice(at);
    case 3:
      return text.slice(0, at);
    default: {
      const lines = text.split('\n');
      const line = random.below(lines.length);
      return lines.toSpliced(line, 1, `${' '.repeat(random.below(5))}${(lines[line] ?? '').trimStart()}`).join('\n');
    }
  }
}

const strange: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  '',
  'x',
  'Agent/host',
  'Model/../x',
  '../..',
  '/etc/passwd',
  './p\0',
  'é'.repeat(5_000),
  [],
  {},
  [[]],
  [null],
  { kind: 'Agent' },
  { kind: 'Agent', name: 'host', package: 'x' },
  { valueFrom: { env: 'X' } },
  { valueFrom: 1 },
  { valueFrom: null },
  { value: 'x' },
  { ref: { ref: 'x' } },
  { a: { a: { a: [] } } },
];

const parse = (text: string): unknown[] => parseAllDocuments(text).map((document) => document.toJS());
/** The documents of the sound files, because most changes begin with one of these files. */
const soundDocuments = new Map(files.map((file) => completeBundle[file] ?? '').map((text) => [text, parse(text)]));

/** Replaces a value with a strange value, or with another value of the file. */
function spoilValue(text: string, random: Random): string {
  let documents: unknown[];
  try {
    documents = structuredClone(soundDocuments.get(text) ?? parse(text));
  } catch {
    return spoilText(text, random);
  }
  const places = listPlaces(documents);
  const place = places[random.below(places.length)];
  const other = places[random.below(places.length)];
  if (place === undefined) return text;
  const { parent, key } = place;
  switch (random.below(4)) {
    case 0:
      Reflect.deleteProperty(parent, key);
      break;
    case 1:
      Reflect.set(parent, key, strange[random.below(strange.length)]);
      break;
    case 2:
      Reflect.set(parent, key, structuredClone(other === undefined ? null : Reflect.get(other.parent, other.key)));
      break;
    default:
      Reflect.set(parent, `${key}${String.fromCodePoint(97 + random.below(26))}`, Reflect.get(parent, key));
      Reflect.deleteProperty(parent, key);
  }
  return documents.map((document) => stringify(document)).join('---\n');
}

interface Spot {
  readonly parent: object;
  readonly key: string;
}

function listPlaces(value: unknown): Spot[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key) => [{ parent: value, key }, ...listPlaces(Reflect.get(value, key))]);
}
