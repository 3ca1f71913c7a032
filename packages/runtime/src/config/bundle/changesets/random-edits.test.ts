// Examines random edits of a complete bundle. The oracle of this test shares no code with the judge: it walks the two
// plans and compares the paths of their differences with a list of patterns.
import { expect, test } from 'bun:test';
import { parseAllDocuments, stringify } from 'yaml';
import { samples } from '../../../../../../test/samples.ts';
import { isObject } from '../../../json/is-object.ts';
import { completeBundle, completeEnvironment, temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { type Random, seededRandom } from '../../../workspace/simulation/seeded-random.ts';
import { loadBundle } from '../load-bundle.ts';
import { resolveSwarm } from '../resolve/resolve-swarm.ts';
import { type EditedTexts, examineTexts, writeTexts } from './examine-texts.ts';

const TIMES = samples(250, 16);
/** The number of random edits from which on a tenth of them is of each kind. */
const ENOUGH = 30;
const environment = completeEnvironment;
const earlier = { addedTools: ['earlier'], addedFiles: ['tools/earlier.ts'] };
const tool = (name: string) =>
  `---\napiVersion: goondan.ai/v1\nkind: Tool\nmetadata: { name: ${name} }\nspec: { entry: ./tools/${name}.ts, exports: [{ name: run, description: Runs. }] }\n`;
const extension = (name: string) =>
  `---\napiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: ${name} }\nspec: { entry: ./extensions/${name}.ts, innermost: true }\n`;
const files: Readonly<Record<string, string>> = {
  ...completeBundle,
  'agents.yaml': (completeBundle['agents.yaml'] ?? '').replace('Tool/agents]', 'Tool/agents, Tool/earlier]'),
  'parts.yml': (completeBundle['parts.yml'] ?? '') + tool('earlier'),
  'tools/earlier.ts': 'export const handlers = { run: () => 1 };\n',
  'skills/review/SKILL.md': '---\nname: review\ndescription: Reviews.\n---\n',
  'rules.json': '{}\n',
};

/** The differences that a changeset may make, as paths in the plan. `+` marks a whole added value. */
const permitted = [
  // An empty prompt is no prompt.
  /^agents\.\d+\.systemPrompt[-+]?$/,
  /^agents\.\d+\.tools\.\d+\+$/,
  /^agents\.\d+\.tools\.\d+\.(?:digest|files|lazy)(?:\.\d+)?\+?$/,
  /^agents\.\d+\.extensions\.\d+\+$/,
];

test(`of ${TIMES} random edits, those that are permitted change only what a changeset may change`, async () => {
  using bundle = temporaryBundle(files);
  const source = { bundleFolder: bundle.folder, environment };
  const before = await planOf(bundle.folder);
  const counts = { fits: 0, policy_violation: 0, invalid_files: 0, conflict: 0 };
  for (let seed = 0; seed < TIMES; seed += 1) {
    const edits = makeEdits(seededRandom(seed));
    const examined = await examineTexts(source, edits, earlier);
    counts[examined.status === 'fits' ? 'fits' : examined.reason] += 1;
    if (examined.status !== 'fits') continue;
    writeTexts(bundle.folder, edits);
    const after = await planOf(bundle.folder);
    expect(examined.candidate.wanted, `seed ${seed}`).toStrictEqual(after);
    const differences = [...differencesOf(before, after, '')];
    expect(
      differences.filter((path) => !permitted.some((pattern) => pattern.test(path))),
      `seed ${seed}`,
    ).toEqual([]);
    expect(countLowEffects(after), `seed ${seed}`).toBe(countLowEffects(before));
    writeTexts(bundle.folder, Object.fromEntries(Object.keys(edits).map((path) => [path, files[path] ?? null])));
  }
  // If every edit were rejected for one reason, the test would prove little. Of few samples, chance decides.
  if (TIMES >= ENOUGH) {
    expect(counts.fits).toBeGreaterThan(TIMES / 10);
    expect(counts.policy_violation).toBeGreaterThan(TIMES / 10);
  }
}, 120_000);

async function planOf(folder: string) {
  return resolveSwarm(await loadBundle(folder, { environment }), { environment }).plan;
}

/** Lists the paths at which two values differ. */
function* differencesOf(before: unknown, after: unknown, path: string): Generator<string> {
  if (Array.isArray(before) && Array.isArray(after)) {
    if (after.length < before.length) yield `${path}.-`;
    for (const [index, item] of after.entries()) {
      if (index < before.length) yield* differencesOf(before[index], item, `${path}.${index}`);
      else yield `${path}.${index}+`;
    }
  } else if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const at = path === '' ? key : `${path}.${key}`;
      if (!(key in before)) yield `${at}+`;
      else if (!(key in after)) yield `${at}-`;
      else yield* differencesOf(before[key], after[key], at);
    }
  } else if (!Object.is(before, after)) yield path;
}

/** Counts the tools whose effects are smaller than those of an unknown tool. */
function countLowEffects(plan: unknown): number {
  return JSON.stringify(plan).match(/"effects":"(?:none|local)"/g)?.length ?? 0;
}

type Files = Record<string, string | null>;

function makeEdits(random: Random): EditedTexts {
  const now: Files = { ...files };
  for (let times = 1 + random.below(3); times > 0; times -= 1) random.pick(steps)(now, random);
  return Object.fromEntries(Object.entries(now).filter(([path, text]) => text !== files[path]));
}

/** The first half of these steps is permitted, unless two of them meet. */
const steps: readonly ((now: Files, random: Random) => void)[] = [
  (now) => replace(now, 'agents.yaml', 'books.', 'many books.'),
  (now) => void (now['prompts/host.md'] = 'You are a kind host.\n'),
  (now, random) => void (now[`skills/${random.pick(['review', 'new'])}/SKILL.md`] = '# Skill\n'),
  (now) => {
    now['parts.yml'] += tool('fresh');
    now['tools/fresh.ts'] = 'export const handlers = { run: () => 2 };\n';
    replace(now, 'agents.yaml', 'Tool/earlier]', 'Tool/earlier, Tool/fresh]');
  },
  (now) => {
    now['parts.yml'] += extension('inner');
    now['extensions/inner.ts'] = 'export function register() {}\n';
    replace(now, 'agents.yaml', '{ level: debug } }]', '{ level: debug } }, Extension/inner]');
  },
  (now) => void (now['tools/earlier.ts'] = "import './celsius';\nexport const handlers = { run: () => 3 };\n"),
  mutateValue,
  mutateValue,
  mutateValue,
  (now, random) => {
    const path = random.pick(Object.keys(files).filter((each) => each.endsWith('.ts') || each.endsWith('.json')));
    now[path] = `${now[path] ?? ''}// edited\n`;
  },
  (now, random) => void (now[random.pick(Object.keys(files))] = null),
  (now, random) =>
    void (now[`${random.pick(['tools', 'extensions', 'prompts', '.'])}/${random.below(9)}.tsx`.replace('./', '')] =
      '\n'),
];

function replace(now: Files, path: string, from: string, to: string): void {
  now[path] = (now[path] ?? '').replace(from, to);
}

/** Changes one value of one document, mostly so that the bundle stays valid. */
function mutateValue(now: Files, random: Random): void {
  const path = random.pick(['goondan.yaml', 'agents.yaml', 'parts.yml']);
  const documents = parseAllDocuments(now[path] ?? '').map((document) => document.toJS() as unknown);
  const places = documents.flatMap((document, index) => [...placesIn(document, [index])]);
  if (places.length === 0) return;
  const place = random.pick(places);
  const parent = place.slice(0, -1).reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], documents);
  const key = place.at(-1) ?? 0;
  const holder = parent as Record<string | number, unknown>;
  const other = random
    .pick(places)
    .reduce<unknown>((value, each) => (value as Record<string, unknown>)[each], documents);
  // A copy, because the other value may contain this place.
  holder[key] = mutated(holder[key], structuredClone(other), random);
  if (random.below(8) === 0 && Array.isArray(parent)) parent.reverse();
  if (random.below(8) === 0 && !Array.isArray(parent)) delete holder[key];
  now[path] = documents.map((document) => stringify(document, { aliasDuplicateObjects: false })).join('---\n');
}

function mutated(value: unknown, other: unknown, random: Random): unknown {
  if (random.below(6) === 0) return other;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return random.below(2) === 0 ? value.toReversed() : value.slice(1);
  if (isObject(value))
    return { ...value, ...random.pick([{ config: { more: 1 } }, { effects: 'none' }, { mayAsk: [] }]) };
  return random.pick(['none', 'external', 'other text', 'Agent/librarian', 'Model/claude', 'Tool/weather', 'TEAM_KEY']);
}

function* placesIn(value: unknown, path: readonly (string | number)[]): Generator<readonly (string | number)[]> {
  if (path.length > 1) yield path;
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* placesIn(item, [...path, index]);
  else if (isObject(value)) for (const [key, item] of Object.entries(value)) yield* placesIn(item, [...path, key]);
}
