// Checks that the error catalogue, its page and the code agree.
import { describe, expect, test } from 'bun:test';
import { errorCatalogue } from '@goondan/types';
import { agentErrors } from '../packages/types/src/errors/agent-errors.ts';
import { modelErrors } from '../packages/types/src/errors/model-errors.ts';
import { bundleErrors } from '../packages/types/src/errors/bundle-errors.ts';
import { changesetErrors } from '../packages/types/src/errors/changeset-errors.ts';
import { clusterErrors } from '../packages/types/src/errors/cluster-errors.ts';
import { storeErrors } from '../packages/types/src/errors/store-errors.ts';
import { swarmErrors } from '../packages/types/src/errors/swarm-errors.ts';
import { toolErrors } from '../packages/types/src/errors/tool-errors.ts';
import { errorsPage, renderErrorsPage } from '../scripts/render-errors-page.ts';
import { isTest, readRepository, type RepositoryFile } from './read-repository.ts';

/** Files that only define codes and do not use them. */
const catalogueFiles = ['agent', 'bundle', 'changeset', 'cluster', 'store', 'swarm', 'tool'].map(
  (area) => `packages/types/src/errors/${area}-errors.ts`,
);

describe('the error catalogue', () => {
  const codes = Object.keys(errorCatalogue);
  const entries: Readonly<Record<string, object>> = errorCatalogue;
  const sources = readRepository('packages/*/{src,bin}/**/*.{ts,tsx,mjs,cjs}').filter(
    ({ path }) => !isTest(path) && !catalogueFiles.includes(path),
  );

  test('is in alphabetical order, area by area, and names no code twice', () => {
    const areas = [
      agentErrors,
      bundleErrors,
      changesetErrors,
      clusterErrors,
      modelErrors,
      storeErrors,
      swarmErrors,
      toolErrors,
    ].map((area) => Object.keys(area));
    for (const area of areas) expect(area).toEqual(area.toSorted(byCharacter));
    expect(new Set(areas.flat()).size).toBe(areas.flat().length);
    expect(areas.flat().toSorted(byCharacter)).toEqual(codes.toSorted(byCharacter));
  });

  test('has codes of E_ and capitals, and complete sentences', () => {
    for (const [code, { meaning, suggestion }] of Object.entries(errorCatalogue)) {
      expect(code).toMatch(/^E(_[A-Z]+)+$/);
      expect(meaning, code).toMatch(/^[A-Z`].*\.$/);
      expect(suggestion, code).toMatch(/^[A-Z`].*\.$/);
    }
  });

  test('equals docs/errors.md; otherwise run `npm run write`', async () => {
    expect(await Bun.file(errorsPage).text()).toBe(renderErrorsPage(errorCatalogue));
  });

  test('gives every code its own anchor on the page', () => {
    const page = renderErrorsPage({ E_NEXT_TWICE: { meaning: 'Meaning.', suggestion: 'Suggestion.' } });
    expect(page).toContain('\n## E_NEXT_TWICE\n\nMeaning.\n\nSuggestion.\n');
  });

  test('marks the codes for programs, and the page lists them', () => {
    const page = renderErrorsPage({
      E_CANCELLED: { forPrograms: true, meaning: 'Meaning.', suggestion: 'Suggestion.' },
      E_NEXT_TWICE: { meaning: 'Meaning.', suggestion: 'Suggestion.' },
    });
    expect(page).toContain('\n## E_CANCELLED\n\nMeaning.\n\nSuggestion.\n\nFor programs.\n');
    expect(page.match(/^- .+$/gm)).toEqual(['- [E_CANCELLED](#e_cancelled)']);
  });

  test.each(['types/src/agents-api', 'types/src/approval', 'types/src/connector', 'runtime/src/control/swarm'])(
    'marks every code that the contract %s.ts promises to programs',
    (file) => {
      const promised = new Set(readRepository(`packages/${file}.ts`)[0]?.text.match(/\bE_[A-Z_]+\b/g));
      const unmarked = [...promised].filter((code) => !Object.hasOwn(entries[code] ?? {}, 'forPrograms'));
      expect(unmarked).toEqual([]);
    },
  );

  test('has no unused code', () => {
    const reported = findReportedCodes(sources);
    expect(codes.filter((code) => !reported.has(code))).toEqual([]);
  });

  test('belongs to errors that the sources recognise with GoondanError.is, whichever copy made them', () => {
    // The simulation is left out, because it is a test that runs in one process with one copy of the package.
    const others = sources.filter(({ path }) => !path.includes('/simulation/'));
    expect(others.filter(({ text }) => text.includes('instanceof GoondanError')).map(({ path }) => path)).toEqual([]);
  });

  test('has every code that the sources name', () => {
    expect(findUnknownCodes(sources, codes)).toEqual([]);
  });
});

describe('the search in the sources', () => {
  const path = 'packages/runtime/src/a.ts';

  test('counts a string as a report, but not a comment', () => {
    const text = `// E_COMMENTED and \`E_QUOTED\`\nthrow new GoondanError('E_THROWN', message);`;
    expect([...findReportedCodes([{ path, text }])]).toEqual(['E_THROWN']);
  });

  test('finds an unknown code anywhere', () => {
    const text = `/** Throws E_KNOWN or E_COMMENTED. */ const code = 'E_THROWN_2';`;
    expect(findUnknownCodes([{ path, text }], ['E_KNOWN'])).toEqual([`${path}: E_COMMENTED`, `${path}: E_THROWN_2`]);
  });
});

function findReportedCodes(files: readonly RepositoryFile[]): Set<string> {
  return new Set(
    files.flatMap(({ text }) => [...text.matchAll(/(['"])(E_[A-Z_]+)\1/g)].map(([, , code = '']) => code)),
  );
}

function findUnknownCodes(files: readonly RepositoryFile[], known: readonly string[]): string[] {
  return files.flatMap(({ path, text }) => {
    const named = new Set(text.match(/\bE_[A-Z][A-Z0-9_]*\b/g));
    return [...named].filter((code) => !known.includes(code)).map((code) => `${path}: ${code}`);
  });
}

function byCharacter(left: string, right: string): number {
  return left < right ? -1 : 1;
}
