// The pasted examples equal the seeds' own text, and all of them are here. The seed documents are not part of this
// repository: where they are missing, the comparison is skipped, and the run says so.
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../read-repository.ts';
import { examplesFolder } from './example.ts';

const seedsFolder = join(repository, '../shared/spec/seeds');
const seedNumbers = ['000', '001', '002', '003', '004'];
const isAbsent = !existsSync(seedsFolder);

interface Example {
  readonly seed: string;
  /** `9.1`, or the heading itself when it has no number. */
  readonly section: string;
  readonly code: string;
}

const files = readdirSync(examplesFolder).toSorted((a, b) => a.localeCompare(b));
const pasted = files.map((file) => ({ file, ...readPasted(readFileSync(join(examplesFolder, file), 'utf8')) }));

describe('the pasted examples', () => {
  test.each(pasted)('$file marks its pasted part', ({ seed, section, code }) => {
    expect(seedNumbers).toContain(seed);
    expect(section).not.toBe('');
    expect(code).toMatch(/\bapi\b/);
  });

  test.skipIf(isAbsent).each(pasted)('B-09 $file is verbatim', ({ seed, section, code }) => {
    const inSeed = readSeeds().filter((block) => block.seed === seed && block.section === section);
    expect(inSeed.map((block) => block.code)).toContain(code);
  });

  test.skipIf(isAbsent)('B-09 are all extensions in the seeds', () => {
    const name = ({ seed, section }: Example) => `${seed}, ${section}`;
    expect(pasted.map(name).toSorted()).toEqual(readSeeds().filter(isExtension).map(name).toSorted());
  });
});

describe('the reading of seeds', () => {
  const text = [
    '## Entry module',
    ...['```typescript', 'export function register(api) {', '}', '```'],
    '### Signature',
    ...['```typescript', 'export function register(api: ExtensionApi): void;', '```'],
    '### 9.1 Compaction',
    ...['```yaml', 'kind: Agent', '```'],
    '#### Example',
    ...['```typescript', "api.pipeline.register('turn', run);", '```'],
  ].join('\n');

  test('finds code with its section', () => {
    expect(readBlocks('000', text)).toEqual([
      { seed: '000', section: 'Entry module', code: 'export function register(api) {\n}' },
      { seed: '000', section: 'Entry module', code: 'export function register(api: ExtensionApi): void;' },
      { seed: '000', section: '9.1', code: "api.pipeline.register('turn', run);" },
    ]);
  });

  test('counts code with a body or with the api as an extension', () => {
    expect(readBlocks('000', text).map(isExtension)).toEqual([true, false, true]);
  });

  test('finds the pasted part of a file', () => {
    const file = 'const x = 1;\n// verbatim from seed 002, 8.5\nline 1\n\nline 2\n// end of verbatim\n}\n';
    expect(readPasted(file)).toEqual({ seed: '002', section: '8.5', code: 'line 1\n\nline 2' });
    expect(readPasted('nothing')).toEqual({ seed: '', section: '', code: '' });
  });
});

function readPasted(text: string): Example {
  const marked = /^\/\/ verbatim from seed (\d{3}), (.+)\n([\s\S]*?)\n\/\/ end of verbatim$/m.exec(text);
  const [, seed = '', section = '', code = ''] = marked ?? [];
  return { seed, section, code };
}

function readSeeds(): Example[] {
  const names = readdirSync(seedsFolder);
  return seedNumbers.flatMap((seed) =>
    names
      .filter((name) => name.startsWith(seed))
      .flatMap((name) => readBlocks(seed, readFileSync(join(seedsFolder, name), 'utf8'))),
  );
}

function readBlocks(seed: string, text: string): Example[] {
  const pieces = text.matchAll(/^(#{2,4}) (.+)$|^```(\w*)\n([\s\S]*?)\n```$/gm);
  const blocks: Example[] = [];
  let section = '';
  for (const [, level, heading = '', language, code = ''] of pieces) {
    if (level !== undefined) section = sectionOf(level, heading) ?? section;
    else if (language === 'typescript' || language === 'ts') blocks.push({ seed, section, code });
  }
  return blocks;
}

/** A numbered heading begins a section; one without a number only at the top level. */
function sectionOf(level: string, heading: string): string | undefined {
  const [, number] = /^(\d+(?:\.\d+)*)\.? /.exec(heading) ?? [];
  return number ?? (level === '##' ? heading : undefined);
}

function isExtension({ code }: Example): boolean {
  return /\bapi\.\w+/.test(code) || /function register\([^)]*\)[^;{]*\{/.test(code);
}
